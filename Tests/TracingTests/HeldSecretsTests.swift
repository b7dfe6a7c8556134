import Cryptography
import Testing

@testable import Tracing

@Suite struct HeldSecretsTests {
  let held = HeldSecrets()

  @Test func `a held value is masked until it is released as often as it was held`() throws {
    let secret = Secret(utf8: "opaque-token-value")
    try held.hold(secret, label: "acme: access token")
    try held.hold(Secret(utf8: "opaque-token-value"), label: "acme: access token")
    #expect(held.labels == ["acme: access token"])
    #expect(held.mask("a opaque-token-value b").withoutHashes == "a […] b")
    held.release(secret)
    #expect(held.mask("a opaque-token-value b").withoutHashes == "a […] b")
    held.release(secret)
    #expect(held.mask("a opaque-token-value b") == "a opaque-token-value b")
    held.release(secret)
    #expect(held.labels.isEmpty)
  }

  @Test func `a value too short or too long to mask is refused and said to be`() throws {
    for text in ["1234567", ""] {
      #expect(throws: HeldSecrets.Refusal.tooShort) { try held.hold(Secret(utf8: text), label: "x") }
    }
    try held.hold(Secret(utf8: "12345678"), label: "x")
    let long = Secret([UInt8](repeating: 65, count: HeldSecrets.byteCountMax + 1))
    #expect(throws: HeldSecrets.Refusal.tooLong) { try held.hold(long, label: "x") }
    #expect(held.mask("1234567") == "1234567")
    #expect(held.mask("12345678").withoutHashes == "[…]")
  }

  @Test func `more values than can be held are refused`() throws {
    let held = HeldSecrets(countMax: 2)
    try held.hold(Secret(utf8: "secret-number-1"), label: "1")
    try held.hold(Secret(utf8: "secret-number-2"), label: "2")
    #expect(throws: HeldSecrets.Refusal.tooMany) { try held.hold(Secret(utf8: "secret-number-3"), label: "3") }
    try held.hold(Secret(utf8: "secret-number-1"), label: "1")
    #expect(held.labels == ["1", "2"])
  }

  @Test func `a batch is held whole or not at all`() throws {
    let held = HeldSecrets(countMax: 3)
    let secrets = (1...4).map { Secret(utf8: "secret-number-\($0)") }
    try held.hold(secrets[0], label: "1")
    #expect(throws: HeldSecrets.Refusal.tooMany) {
      try held.hold(all: secrets.map { (secret: $0, label: "again") })
    }
    #expect(throws: HeldSecrets.Refusal.tooShort) {
      try held.hold(all: [(secret: secrets[1], label: "2"), (secret: Secret(utf8: "short"), label: "3")])
    }
    #expect(held.labels == ["1"])
    try held.hold(all: secrets.prefix(3).map { (secret: $0, label: "again") })
    #expect(held.labels.count == 3)
    held.release(all: secrets.prefix(3))
    #expect(held.mask("secret-number-1 secret-number-2").withoutHashes == "[…] secret-number-2")
  }

  @Test func `hexadecimal is found in any mixture of cases`() throws {
    var random = SeededRandom(seed: 3)
    let value = "s3cr3t-jklmno-\u{1F}\u{FF}-value"
    try held.hold(Secret(utf8: value), label: "x")
    for _ in 0..<50 {
      let mixed = String(
        Encodings.hexadecimal(value).map { Bool.random(using: &random) ? Character($0.uppercased()) : $0 })
      #expect(held.mask("<\(mixed)>").withoutHashes == "<[…]>")
    }
  }

  /// As all PEM files do. What they share must not be all that is looked at.
  @Test func `values that end the same are found, and what ends like them is not touched`() throws {
    let ending = "\n-----END PRIVATE KEY-----\n"
    var random = SeededRandom(seed: 4)
    let values = (0..<200).map { _ in random.characters(64, of: Alphabet.base64URL) + ending }
    try held.hold(all: values.map { (secret: Secret(utf8: $0), label: "x") })
    for value in values {
      #expect(held.mask("<\(value)>").withoutHashes == "<[…]>")
      #expect(held.mask(Base64.encode(value.utf8)).withoutHashes.hasPrefix("[…]"))
      #expect(held.mask(Encodings.hexadecimal(value)).withoutHashes == "[…]")
    }
    #expect(held.mask("<\(ending)>") == "<\(ending)>")
    held.release(all: values.map { Secret(utf8: $0) })
    #expect(held.mask(values[0]) == values[0])
  }

  @Test func `values that come and go are masked exactly as long as they are held`() throws {
    var random = SeededRandom(seed: 5)
    var values: [String] = []
    for round in 0..<1_500 {
      if values.count > 40 || round % 7 == 6, let gone = values.randomElement(using: &random) {
        values.removeAll { $0 == gone }
        held.release(Secret(utf8: gone))
        #expect(held.mask(gone) == gone)
      }
      values.append(random.characters(Int.random(in: 12..<80, using: &random), of: Alphabet.base62))
      try held.hold(Secret(utf8: values[values.count - 1]), label: "x")
      let asked = try #require(values.randomElement(using: &random))
      #expect(held.mask("<\(asked)>").withoutHashes == "<[…]>")
    }
    held.release(all: values.map { Secret(utf8: $0) })
    #expect(held.labels.isEmpty)
  }

  @Test func `one thread feeds while others search`() async throws {
    let held = HeldSecrets()
    let kept = "kept-from-beginning-to-end"
    try held.hold(Secret(utf8: kept), label: "x")
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        var random = SeededRandom(seed: 6)
        for _ in 0..<400 {
          let secrets = (0..<6).map { _ in Secret(utf8: random.characters(40, of: Alphabet.base62)) }
          guard (try? held.hold(all: secrets.map { (secret: $0, label: "y") })) != nil else { return false }
          if Bool.random(using: &random) { held.release(all: secrets) }
        }
        return true
      }
      for _ in 0..<2 {
        group.addTask { (0..<400).allSatisfy { _ in held.mask("<\(kept)>").withoutHashes == "<[…]>" } }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test(arguments: [
    "correct horse battery", "p@ss/word+1=&x", "quo\"te\\back\nline", "päßwörd-ünï", "x%41y%2Fz123", "eyJhbGciOi.x.y",
    "00000000", "aaaaaaaaaaaaaaaa", "/path/like?value=1", "tab\there\u{1}\u{7F}", "日本語の秘密",
  ])
  func `a value is found in every encoding and combination`(value: String) throws {
    try held.hold(Secret(utf8: value), label: "x")
    let json = { (text: String) in Encodings.json(text) }
    let percent = { (text: String) in PercentForm.reserved.encode(text) }
    let forms = [
      value, percent(value), PercentForm.full.encode(value), PercentForm.fullLowercase.encode(value),
      percent(percent(value)),
      json(value), json(json(value)), json(percent(value)), percent(json(value)), Encodings.jsonUnicode(value),
      Base64.encode(value.utf8), Base64URL.encode(value.utf8), percent(Base64.encode(value.utf8)),
      value.replacing(" ", with: "+"), percent(value).replacing("%20", with: "+"),
      Encodings.hexadecimal(value), Encodings.hexadecimal(value).uppercased(),
      PercentForm.full.encode(Encodings.hexadecimal(value)),
    ]
    for form in forms {
      let shown = held.mask("before <\(form)> behind")
      #expect(shown.withoutHashes.replacing(/(?:=|%3D)+/, with: "") == "before <[…]> behind", "\(form)")
    }
  }

  @Test(arguments: 0..<6)
  func `a value is found in base64 of something larger at any offset`(offset: Int) throws {
    let value = "s3cr3t-value-of-a-client"
    try held.hold(Secret(utf8: value), label: "x")
    for behind in 0..<4 {
      let whole = String(repeating: "u", count: offset) + value + String(repeating: "v", count: behind)
      for form in [Base64.encode(whole.utf8), Base64URL.encode(whole.utf8)] {
        let shown = held.mask(form)
        #expect(shown.contains("[redacted:"))
        // What is left of it is around the value and no more than the neighbours' characters.
        #expect(shown.withoutHashes.count <= 3 + (offset * 8 + 5) / 6 + (behind * 8 + 5) / 6 + 2)
      }
    }
  }

  /// A dump of something larger holds the value at any place; in the text a digit may stand right beside it.
  @Test func `a value is found in hexadecimal of something larger, and its neighbours stay`() throws {
    let value = "s3cr3t-value-of-a-client"
    try held.hold(Secret(utf8: value), label: "x")
    for (before, behind) in [("", ""), ("u", ""), ("uv", "w"), ("", "wxyz")] {
      let (left, right) = (Encodings.hexadecimal(before), Encodings.hexadecimal(behind))
      let whole = Encodings.hexadecimal(before + value + behind)
      #expect(held.mask(whole).withoutHashes == "\(left)[…]\(right)")
      #expect(held.mask(whole.uppercased()).withoutHashes == "\(left.uppercased())[…]\(right.uppercased())")
      #expect(held.mask("a" + whole + "f").withoutHashes == "a\(left)[…]\(right)f")
    }
  }

  @Test func `equal values have equal markers in any form`() throws {
    try held.hold(Secret(utf8: "p@ss/word+1"), label: "x")
    let shown = held.mask("p@ss/word+1 p%40ss%2Fword%2B1").split(separator: " ")
    #expect(shown[0] == shown[1])
  }

  @Test func `values that contain each other or overlap are masked as one`() throws {
    for value in ["abcdefghij", "cdefghijkl", "efghijklmnop", "12345678", "123456789012"] {
      try held.hold(Secret(utf8: value), label: "x")
    }
    #expect(held.mask("<abcdefghijklmnop>").withoutHashes == "<[…]>")
    #expect(held.mask("<123456789012>").withoutHashes == "<[…]>")
    #expect(held.mask("<1234567890>").withoutHashes == "<[…]90>")
  }

  @Test func `a value that looks like a marker eats no markers`() throws {
    for value in ["redacted", "[redacted", "redacted:", "1a2b3c4d"] {
      try held.hold(Secret(utf8: value), label: "x")
    }
    #expect(held.mask("x [redacted:1a2b3c4d] y") == "x [redacted:1a2b3c4d] y")
    #expect(held.mask("x 1a2b3c4d y").withoutHashes == "x […] y")
  }

  @Test func `any number of random values are found wherever they stand, and nothing else is touched`() throws {
    var random = SeededRandom(seed: 1)
    let values = (0..<120).map { random.characters($0 % 60 + 8, of: Alphabet.base64URL) }
    for value in values { try held.hold(Secret(utf8: value), label: "x") }
    for value in values {
      for _ in 0..<4 {
        let before = random.characters(Int.random(in: 0..<40, using: &random), of: Alphabet.hexadecimal)
        let behind = random.characters(Int.random(in: 0..<40, using: &random), of: Alphabet.hexadecimal)
        #expect(held.mask("\(before)<\(value)>\(behind)").withoutHashes == "\(before)<[…]>\(behind)")
      }
      let cut = String(value.dropLast())
      #expect(held.mask("<\(cut)>").contains(cut) || values.contains { cut.contains($0) })
    }
  }

  @Test func `a text without held values is returned as it is`() throws {
    #expect(held.mask("anything %41 \\u0041") == "anything %41 \\u0041")
    try held.hold(Secret(utf8: "something else"), label: "x")
    #expect(held.mask("anything %41 \\u0041 %zz \\q") == "anything %41 \\u0041 %zz \\q")
    #expect(held.mask("") == "")
  }
}

enum Encodings {
  static func hexadecimal(_ text: String) -> String {
    text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  static func json(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { encoded, scalar in
      switch scalar {
      case "\"": encoded += "\\\""
      case "\\": encoded += "\\\\"
      case "\n": encoded += "\\n"
      case "\t": encoded += "\\t"
      case "/": encoded += "\\/"
      case ..<" ": encoded += unicode(scalar)
      default: encoded.unicodeScalars.append(scalar)
      }
    }
  }

  static func jsonUnicode(_ text: String) -> String { text.unicodeScalars.map(unicode).joined() }

  private static func unicode(_ scalar: Unicode.Scalar) -> String {
    UTF16.encode(scalar).map { units in
      units.map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }.joined()
    } ?? ""
  }
}
