/// Base64 with padding, as HTTP Basic and PEM use it. RFC 4648 §4
package enum Base64 {
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    Array(bytes).withUnsafeBytes { source in
      let paddedCount = (source.count + 2) / 3 * 4
      return String(unsafeUninitializedCapacity: paddedCount) { target in
        let count = Base64Alphabet.standard.encode(source, into: UnsafeMutableRawBufferPointer(target))
        target[count..<paddedCount].initialize(repeating: UInt8(ascii: "="))
        return paddedCount
      }
    }
  }

  /// Decodes strictly: `nil` for missing or misplaced padding, white space, or bits set after the last byte.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let characters = text.utf8
    guard characters.count % 4 == 0 else { return nil }
    let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    return Base64Alphabet.standard.decode(characters.dropLast(padding))
  }
}
