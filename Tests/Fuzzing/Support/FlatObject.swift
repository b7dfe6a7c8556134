/// A JSON object of nothing but strings of printable ASCII without escapes, found by cutting it at the quotes.
struct FlatObject {
  let members: [(name: String, value: String)]

  init?(_ text: Bytes) {
    let text = Self.trimmed(text)
    guard text.count >= 2, text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}") else { return nil }
    let pieces = text.dropFirst().dropLast().split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
    // Between the strings stands a colon, then a comma, and so on; outside them nothing.
    for (index, piece) in pieces.enumerated() where index % 2 == 0 {
      let isOutside = index == 0 || index == pieces.count - 1
      let expected = isOutside ? "" : index % 4 == 2 ? ":" : ","
      guard Self.trimmed(piece) == Bytes(expected.utf8) else { return nil }
    }
    let strings = stride(from: 1, to: pieces.count, by: 2).map { pieces[$0] }
    guard pieces.count % 4 == 1, strings.allSatisfy({ $0.allSatisfy { 0x20...0x7E ~= $0 && $0 != 0x5C } }) else {
      return nil
    }
    members = stride(from: 0, to: strings.count, by: 2).map {
      (String(decoding: strings[$0], as: UTF8.self), String(decoding: strings[$0 + 1], as: UTF8.self))
    }
  }

  /// Without the whitespace around it. RFC 8259 §2
  static func trimmed(_ text: some BidirectionalCollection<UInt8>) -> Bytes {
    func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
    var rest = Array(text)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return Array(rest.drop(while: isBlank))
  }
}
