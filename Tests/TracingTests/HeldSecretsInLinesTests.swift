import Cryptography
import HTTPWire
import Testing

@testable import Tracing

@Suite struct HeldSecretsInLinesTests {
  let held = HeldSecrets()

  private func masked(_ lines: String) -> String {
    let bytes = Array(lines.utf8)
    let batch = LineBatch(bytes: bytes, lineCount: bytes.count { $0 == 10 })
    return String(decoding: HeldSecretMasker(held).masked(batch).bytes, as: UTF8.self)
  }

  @Test func `only the strings of a line are masked, so that it stays JSON with its members`() throws {
    for value in ["duration", "12345678", "attempts", "orders/12345678"] {
      try held.hold(Secret(utf8: value), label: "x")
    }
    let line = #"{"target":"/orders/12345678","duration_ms":12345678,"attempts":1,"x":["a12345678"]}"# + "\n"
    #expect(
      masked(line).withoutHashes
        == #"{"target":"/[…]","duration_ms":12345678,"attempts":1,"x":["a[…]"]}"# + "\n")
  }

  @Test func `a value that JSON must escape is found behind its escapes`() throws {
    let value = "quo\"te\\back\nli"
    try held.hold(Secret(utf8: value), label: "x")
    let line = #"{"target":"/a?x=\#(Encodings.json(value))&y=\"1\""}"# + "\n"
    #expect(masked(line).withoutHashes == #"{"target":"/a?x=[…]&y=\"1\""}"# + "\n")
  }

  @Test func `lines without a held value are not changed by a byte`() throws {
    try held.hold(Secret(utf8: "held-value"), label: "x")
    let clean = #"{"target":"/a?x=\"%41\\\/\u00e9","n":1}"# + "\n"
    let dirty = #"{"target":"held-value"}"# + "\n"
    #expect(masked(clean) == clean)
    #expect(masked(clean + dirty + clean).withoutHashes == clean + #"{"target":"[…]"}"# + "\n" + clean)
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `held values at random places never appear in a line`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let alphabets = [Alphabet.base62, Alphabet.base64URL + "=/+", Alphabet.hexadecimal, "ab\"\\\n%&=?/#é日 "]
    let values = (0..<16).map { number in
      random.characters(Int.random(in: 8..<200, using: &random), of: alphabets[number % alphabets.count])
    }
    for value in values { try held.hold(Secret(utf8: value), label: "x") }
    for _ in 0..<25 {
      let value = try #require(values.randomElement(using: &random))
      let form = try #require(PercentForm.allCases.randomElement(using: &random)).encode(value)
      let filler = String(repeating: "/abc", count: Int.random(in: 0..<600, using: &random))
        .dropLast(Int.random(in: 0..<4, using: &random))
      let draft = RecordDraft(target: "\(filler)\(form)\(filler)") { record in
        record.subject = RecordSubject(route: LogLabel("r-\(value)"))
        record.error = LogLabel(value)
      }
      let line = masked(draft.line(heldSecrets: held))
      let shown = try JSONText.strings(in: line)
      for value in values {
        #expect(!shown.contains { $0.contains(value) || $0.contains(PercentForm.reserved.encode(value)) })
        // Nor more than a few characters of it, at a cut.
        #expect(!shown.contains { $0.contains(value.suffix(8)) || $0.contains(value.prefix(8)) })
      }
    }
  }
}

enum JSONText {
  /// All strings of a JSON object, the values only.
  static func strings(in line: String) throws -> [String] { strings(in: try JSONValue(parsing: Array(line.utf8))) }

  private static func strings(in value: JSONValue) -> [String] {
    switch value {
    case .string(let text): [text]
    case .array(let elements): elements.flatMap(strings)
    case .object(let members): members.flatMap { strings(in: $0.1) }
    default: []
    }
  }
}
