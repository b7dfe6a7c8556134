import Cryptography
import Synchronization

/// The short name of one exchange: 12 characters, unique in its process and most likely beyond.
///
/// Five characters are drawn when the process starts, seven count up. Characters are Crockford's base32 in lower case,
/// which leaves out the ones people confuse.
package struct RequestID: Sendable, Hashable, CustomStringConvertible {
  package static let characterCount = 12

  /// 60 bits, the drawn ones on top.
  let value: UInt64

  init(value: UInt64) { self.value = value }

  package var description: String {
    String(unsafeUninitializedCapacity: Self.characterCount) { buffer in
      write(to: UnsafeMutableRawBufferPointer(buffer))
      return Self.characterCount
    }
  }

  /// Writes the 12 characters to the start of `output`.
  package func write(to output: UnsafeMutableRawBufferPointer) {
    precondition(output.count >= Self.characterCount, "a request ID has 12 characters")
    let alphabet: StaticString = "0123456789abcdefghjkmnpqrstvwxyz"
    let digits = alphabet.utf8Start
    var rest = value
    var index = Self.characterCount
    while index > 0 {
      index &-= 1
      output[index] = digits[Int(rest & 31)]
      rest >>= 5
    }
  }
}

/// Gives each loop blocks of request IDs, so that loops share no counter.
final class RequestIDSource: Sendable {
  static let blockSize: UInt64 = 4_096
  private static let counterBits: UInt64 = 35

  private let prefix: UInt64
  private let next = Atomic<UInt64>(0)

  init() {
    let random = SecureRandom.bytes(4).reduce(0) { $0 << 8 | UInt64($1) }
    prefix = (random & 0x1FF_FFFF) << Self.counterBits
  }

  /// The values of the next block of IDs.
  func block() -> Range<UInt64> {
    let start = next.wrappingAdd(Self.blockSize, ordering: .relaxed).oldValue & ((1 << Self.counterBits) - 1)
    return prefix | start..<(prefix | start) + Self.blockSize
  }
}
