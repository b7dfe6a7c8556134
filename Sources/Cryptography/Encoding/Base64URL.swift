/// Base64url without padding, the only form JOSE knows. RFC 7515 §2, RFC 4648 §5
package enum Base64URL {
  /// The length of `byteCount` bytes once encoded.
  package static func encodedCount(_ byteCount: Int) -> Int { Base64Alphabet.unpaddedCount(byteCount) }

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    Array(bytes).withUnsafeBytes { source in
      String(unsafeUninitializedCapacity: encodedCount(source.count)) { target in
        encode(source, into: UnsafeMutableRawBufferPointer(target))
      }
    }
  }

  /// Writes the encoded bytes to the start of `output`, which must hold ``encodedCount(_:)``; returns their number.
  @discardableResult
  package static func encode(_ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
    Base64Alphabet.urlSafe.encode(bytes, into: output)
  }

  /// Decodes strictly: `nil` for padding, white space, a character of the other alphabet, an impossible length, or bits
  /// set after the last byte.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    Base64Alphabet.urlSafe.decode(text.utf8)
  }

  /// Decodes as strictly from the bytes of an ASCII text.
  package static func decode(utf8 text: some Collection<UInt8>) -> [UInt8]? {
    Base64Alphabet.urlSafe.decode(text)
  }
}
