typealias Bytes = [UInt8]

/// Ends the process with `message` when a property does not hold; libFuzzer then keeps the input.
func check(_ holds: Bool, _ message: @autoclosure () -> String) {
  guard !holds else { return }
  fatalError("broken property: \(message())")
}

/// Ends the process when two ways to the same answer do not agree.
func check<Answer: Equatable>(_ one: Answer, equals other: Answer, _ message: @autoclosure () -> String) {
  check(one == other, "\(message())\n  one:   \(one)\n  other: \(other)")
}

/// What a message shows of bytes: in quotes, with line ends and other controls escaped.
func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }

/// `bytes` in memory of exactly their size, so that the address sanitizer sees a read past their end.
func withExactCopy<Answer>(
  of bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Answer
) -> Answer {
  let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
  defer { copy.deallocate() }
  copy.copyBytes(from: bytes)
  return body(UnsafeRawBufferPointer(copy))
}

/// Where an input is cut into the pieces that are read one after the other.
enum Cuts {
  /// One cut: everywhere in a short input, in some 64 places of a long one.
  static func single(_ count: Int) -> [Int] { Array(stride(from: 0, through: count, by: 1 + count / 64)) }

  /// Some cuts, chosen by the input itself: the fuzzer changes them, and a finding repeats.
  static func several(_ bytes: Bytes) -> [Int] {
    var state = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let cuts = (0..<6).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % (bytes.count + 1)
    }
    return cuts.sorted()
  }
}
