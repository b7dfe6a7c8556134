/// 128-bit random values, drawn from the CSPRNG 4 KiB at a time: 256 values for little more than the price of one.
final class RandomBlock {
  static let valueBytes = 16
  private static let blockBytes = 4096

  private let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockBytes, alignment: 16)
  private var used = blockBytes

  deinit { block.deallocate() }

  /// The next 16 bytes; valid until the next call.
  func next() -> UnsafeRawBufferPointer {
    if used == Self.blockBytes {
      SecureRandom.fill(block)
      used = 0
    }
    defer { used += Self.valueBytes }
    return UnsafeRawBufferPointer(rebasing: block[used..<(used + Self.valueBytes)])
  }
}
