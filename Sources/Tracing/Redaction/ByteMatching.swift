import HTTPWire

extension UnsafeRawBufferPointer {
  /// Whether `literal` stands at `offset`.
  func holds(_ literal: StaticString, at offset: Int) -> Bool {
    let length = literal.utf8CodeUnitCount
    guard offset >= 0, count - offset >= length else { return false }
    for index in 0..<length where self[offset + index] != literal.utf8Start[index] { return false }
    return true
  }

  /// Whether `literal`, given in lower case, stands at `offset` in any case.
  func holds(caseless literal: StaticString, at offset: Int) -> Bool {
    let length = literal.utf8CodeUnitCount
    guard offset >= 0, count - offset >= length else { return false }
    for index in 0..<length where ASCII.lowercased(self[offset + index]) != literal.utf8Start[index] { return false }
    return true
  }

  /// The byte that two hexadecimal digits at `offset` stand for.
  func hexByte(at offset: Int) -> UInt8? {
    guard offset + 1 < count, let high = ASCII.hexValue(self[offset]), let low = ASCII.hexValue(self[offset + 1])
    else { return nil }
    return high << 4 | low
  }
}

extension UInt8 {
  /// A letter or a digit. A bitmap in registers, as this is asked of nearly every byte of a target.
  @inline(__always)
  var isWordByte: Bool {
    if self < 64 { return 0x03FF_0000_0000_0000 as UInt64 >> UInt64(self) & 1 == 1 }
    return self < 128 && 0x07FF_FFFE_07FF_FFFE as UInt64 >> UInt64(self & 63) & 1 == 1
  }
}
