import HTTPWire

/// A text as it is, or as it reads after decoding, with the way back to where each byte came from.
struct TextView {
  let bytes: UnsafeRawBufferPointer
  /// For each byte of a decoded text, and its end, the offset in the original; `nil` for the original itself.
  let origins: UnsafeBufferPointer<UInt32>?

  func original(_ range: Range<Int>) -> Range<Int> {
    guard let origins else { return range }
    return Int(origins[range.lowerBound])..<Int(origins[range.upperBound])
  }
}

/// An encoding that hides text from a plain search.
enum LayerEncoding {
  /// `%2E`. RFC 3986 §2.1
  case percent
  /// `\u002e`, `\"`. RFC 8259 §7
  case json
}

/// Takes one layer of encoding off. Kept for reuse, so that a layer costs no allocation once its buffers have grown.
final class LayerDecoder {
  private var bytes: [UInt8] = []
  private var origins: [UInt32] = []

  func withView(_ body: (TextView) -> Void) {
    bytes.withUnsafeBytes { bytes in
      origins.withUnsafeBufferPointer { body(TextView(bytes: bytes, origins: $0)) }
    }
  }

  func releaseBuffers() {
    bytes = []
    origins = []
  }

  /// Whether there is a layer of one of `encodings` to take off.
  static func hasLayer(_ view: TextView, _ encodings: [LayerEncoding]) -> Bool {
    let decoder = LayerDecoder()
    return encodings.contains { decoder.decode(view, $0) }
  }

  /// Takes one layer of `encoding` off `view`; `false` if there is none.
  func decode(_ view: TextView, _ encoding: LayerEncoding) -> Bool {
    let lead = encoding == .percent ? UInt8(ascii: "%") : UInt8(ascii: "\\")
    guard let first = view.bytes.firstIndex(of: lead) else { return false }
    // Taken out of the object while they are filled: one access instead of one per byte.
    var bytes = take(&self.bytes)
    var origins = take(&self.origins)
    bytes.append(contentsOf: view.bytes[..<first])
    for index in 0..<first { origins.append(view.origin(index)) }
    var index = first
    var hasDecoded = false
    while index < view.bytes.count {
      let byte = view.bytes[index]
      let length = byte == lead ? Self.decodeEscape(view.bytes, at: index, encoding, to: &bytes) : 0
      if length == 0 { bytes.append(byte) }
      while origins.count < bytes.count { origins.append(view.origin(index)) }
      hasDecoded = hasDecoded || length > 0
      index += max(1, length)
    }
    origins.append(view.origin(view.bytes.count))
    self.bytes = bytes
    self.origins = origins
    return hasDecoded
  }

  private func take<Element>(_ array: inout [Element]) -> [Element] {
    var taken: [Element] = []
    swap(&taken, &array)
    taken.removeAll(keepingCapacity: true)
    return taken
  }

  /// Appends what the escape at `index` stands for and returns its length, or 0 if it is none.
  private static func decodeEscape(
    _ text: UnsafeRawBufferPointer, at index: Int, _ encoding: LayerEncoding, to bytes: inout [UInt8]
  ) -> Int {
    switch encoding {
    case .percent:
      guard let byte = text.hexByte(at: index + 1) else { return 0 }
      bytes.append(byte)
      return 3
    case .json:
      guard index + 1 < text.count else { return 0 }
      guard text[index + 1] != UInt8(ascii: "u") else { return decodeUnicodeEscape(text, at: index, to: &bytes) }
      guard let byte = jsonEscape(text[index + 1]) else { return 0 }
      bytes.append(byte)
      return 2
    }
  }

  private static func decodeUnicodeEscape(
    _ text: UnsafeRawBufferPointer, at index: Int, to bytes: inout [UInt8]
  ) -> Int {
    guard let unit = text.jsonCodeUnit(at: index) else { return 0 }
    var scalar = UInt32(unit)
    var length = 6
    if unit & 0xFC00 == 0xD800, let low = text.jsonCodeUnit(at: index + 6), low & 0xFC00 == 0xDC00 {
      scalar = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(low & 0x3FF))
      length = 12
    }
    bytes.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
    return length
  }

  private static func jsonEscape(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }
}

extension TextView {
  fileprivate func origin(_ index: Int) -> UInt32 { origins.map { $0[index] } ?? UInt32(truncatingIfNeeded: index) }
}

extension UnsafeRawBufferPointer {
  fileprivate func jsonCodeUnit(at offset: Int) -> UInt16? {
    guard holds("\\u", at: offset), let high = hexByte(at: offset + 2), let low = hexByte(at: offset + 4)
    else { return nil }
    return UInt16(high) << 8 | UInt16(low)
  }
}
