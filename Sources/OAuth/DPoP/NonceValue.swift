/// A nonce as a server gave it: opaque, and legal in a proof. Not the nonce of OpenID Connect. RFC 9449 §8.1
package final class NonceValue: Sendable {
  /// No server that was seen comes near; the bound keeps heads and memory small.
  package static let bytesMax = 512

  package let bytes: [UInt8]

  /// - Returns: nil for an empty value, one that is too long, and one with a byte outside NQCHAR.
  package init?(_ bytes: UnsafeRawBufferPointer) {
    guard Self.isLegal(bytes) else { return nil }
    self.bytes = Array(bytes)
  }

  /// - Returns: nil for an empty value, one that is too long, and one with a byte outside NQCHAR.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.withUnsafeBytes(Self.isLegal) else { return nil }
    self.bytes = bytes
  }

  package func equals(_ other: UnsafeRawBufferPointer) -> Bool {
    bytes.count == other.count && bytes.elementsEqual(other)
  }

  /// `nonce = 1*NQCHAR`. RFC 9449 §8.1, RFC 6749 appendix A
  package static func isLegal(_ bytes: UnsafeRawBufferPointer) -> Bool {
    !bytes.isEmpty && bytes.count <= bytesMax
      && bytes.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
  }
}

extension NonceValue: Equatable {
  package static func == (a: NonceValue, b: NonceValue) -> Bool { a === b || a.bytes == b.bytes }
}

/// A nonce is short-lived but still nobody's business.
extension NonceValue: CustomStringConvertible, CustomReflectable {
  package var description: String { "[nonce]" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
