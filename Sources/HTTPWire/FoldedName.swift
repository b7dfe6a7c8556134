/// A field name as a server reads it that makes a variable of each field: `X_Forwarded_For` and `X-Forwarded-For` are both
/// `HTTP_X_FORWARDED_FOR`. RFC 3875 §4.1.18
package enum FoldedName {
  /// Whether such servers have one spelling only for `byte`: letters and digits. Of the others `-` is the one in the names
  /// that mean something.
  @inline(__always)
  package static func isPlain(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-")
  }

  /// Lends `name` with `-` for every byte that is not plain; the name itself if all are.
  package static func withFolded<R>(_ name: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    guard !name.allSatisfy(isPlain) else { return body(name) }
    return withUnsafeTemporaryAllocation(byteCount: name.count, alignment: 1) { folded in
      for index in 0..<name.count { folded[index] = isPlain(name[index]) ? name[index] : UInt8(ascii: "-") }
      return body(UnsafeRawBufferPointer(folded))
    }
  }

  /// `name` with `-` for every byte that is not plain, in lower case, to compare with.
  package static func bytes(_ name: String) -> [UInt8] {
    name.utf8.map { isPlain($0) ? ASCII.lowercased($0) : UInt8(ascii: "-") }
  }
}
