import HTTPWire
import Testing

struct JSONTests {
  @Test func `a document keeps order, numbers and text`() throws {
    let value = try JSONValue(
      parsing:
        #" { "a" : [ 1 , -0.5e+10 , 12345678901234567890 , true , false , null , "x" ] , "b" : { } , "" : [ ] } "#)
    #expect(
      value
        == .object([
          (
            "a",
            [1, .number("-0.5e+10"), .number("12345678901234567890"), true, false, nil, "x"]
          ), ("b", [:]), ("", []),
        ]))
    #expect(
      String(decoding: value.serialised(), as: UTF8.self)
        == #"{"a":[1,-0.5e+10,12345678901234567890,true,false,null,"x"],"b":{},"":[]}"#)
  }

  @Test func `accessors answer for their own kind alone`() throws {
    let value = try JSONValue(
      parsing: #"{"s":"t","i":42,"n":-7,"d":1.5,"e":1e2,"b":true,"z":null,"l":["a","b"],"m":["a",1]}"#)
    #expect(value["s"]?.stringValue == "t")
    #expect(value["i"]?.int64Value == 42)
    #expect(value["n"]?.int64Value == -7)
    #expect(value["d"]?.int64Value == nil)
    #expect(value["e"]?.int64Value == nil)
    #expect(value["d"]?.doubleValue == 1.5)
    #expect(value["b"]?.boolValue == true)
    #expect(value["z"]?.isNull == true)
    #expect(value["l"]?.stringArrayValue == ["a", "b"])
    #expect(value["m"]?.stringArrayValue == nil)
    #expect(value["m"]?.arrayValue?.count == 2)
    #expect(value["s"]?.int64Value == nil)
    #expect(value["i"]?.stringValue == nil)
    #expect(value["none"] == nil)
    #expect(value["s"]?["x"] == nil)
    #expect(value.objectValue?.count == 9)
  }

  @Test func `objects are equal in any order`() {
    #expect(["a": 1, "b": 2] as JSONValue == ["b": 2, "a": 1])
    #expect(["a": 1] as JSONValue != ["a": 2])
    #expect(["a": 1] as JSONValue != ["a": 1, "b": 2])
    #expect([1, 2] as JSONValue != [2, 1])
  }

  @Test(arguments: [
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
    (#""\u0041\u00e9\u20AC""#, "A\u{E9}\u{20AC}"),
    (#""\ud83d\ude00""#, "\u{1F600}"),
    ("\"\u{1F600}\u{7F}\"", "\u{1F600}\u{7F}"),
    (#""\u0000""#, "\0"),
  ])
  func `escapes are decoded`(_ json: String, _ text: String) throws {
    #expect(try JSONValue(parsing: json) == .string(text))
  }

  @Test(
    arguments: [
      ("", .syntax), (" ", .syntax), ("{", .syntax), ("[", .syntax), ("[1", .syntax), ("[1,", .syntax),
      ("[1,]", .syntax),
      ("[,1]", .syntax), ("[1 2]", .syntax), ("{\"a\"}", .syntax), ("{\"a\":}", .syntax), ("{\"a\":1,}", .syntax),
      ("{a:1}", .syntax), ("{'a':1}", .syntax), ("{1:1}", .syntax), ("{\"a\":1 \"b\":2}", .syntax), ("]", .syntax),
      ("1 1", .syntax), ("{}x", .syntax), ("tru", .syntax), ("True", .syntax), ("nul", .syntax), ("NaN", .syntax),
      ("Infinity", .syntax), ("// x\n1", .syntax), ("1/**/", .syntax), ("\u{FEFF}1", .syntax), ("\0", .syntax),
      ("1\0", .syntax), ("\u{A0}1", .syntax), ("[1}", .syntax), ("{\"a\":1]", .syntax), ("[\u{B}1]", .syntax),
      ("01", .number), ("-", .number), ("-01", .number), ("1.", .number), (".1", .syntax), ("1e", .number),
      ("1e+", .number),
      ("+1", .syntax), ("1.e1", .number), ("0x1", .syntax), ("1e1.5", .syntax), ("--1", .number), ("-a", .number),
      ("\"", .string), ("\"a", .string), ("\"a\n\"", .string), ("\"\t\"", .string), ("\"\0\"", .string),
      ("'a'", .syntax),
      (#""\"#, .escape), (#""\x""#, .escape), (#""\u12""#, .escape), (#""\u12g4""#, .escape), (#""\u"#, .escape),
      (#""\U0041""#, .escape), (#""\'""#, .escape),
      (#""\ud800""#, .loneSurrogate), (#""\ud800\u0041""#, .loneSurrogate), (#""\udc00""#, .loneSurrogate),
      (#""\ud800x""#, .loneSurrogate), (#""\ud800\n""#, .loneSurrogate), (#""\ude00\ud83d""#, .loneSurrogate),
      (#"{"a":1,"a":1}"#, .duplicateName), (#"{"a":1,"\u0061":1}"#, .duplicateName),
    ] as [(String, JSONViolation.Kind)])
  func `what RFC 8259 does not allow is refused`(_ json: String, _ kind: JSONViolation.Kind) {
    let violation = #expect(throws: JSONViolation.self) { try JSONValue(parsing: json) }
    #expect(violation?.kind == kind)
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    for bad in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]] {
      let violation = #expect(throws: JSONViolation.self) { try JSONValue(parsing: [0x22] + bad + [0x22]) }
      #expect(violation == JSONViolation(kind: .utf8, offset: 0))
    }
  }

  @Test func `depth and size are bounded`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(throws: Never.self) { try JSONValue(parsing: nested(64)) }
    #expect(throws: JSONViolation(kind: .tooDeep, offset: 64)) { try JSONValue(parsing: nested(65)) }
    #expect(throws: JSONViolation(kind: .tooDeep, offset: 64)) {
      try JSONValue(parsing: String(repeating: "[", count: 1_000_000))
    }
    #expect(throws: JSONViolation(kind: .tooLarge, offset: 4)) {
      try JSONValue(parsing: "[1,2]", limits: JSONLimits(bytesMax: 4))
    }
    // Depth is not the number of siblings.
    #expect(throws: Never.self) { try JSONValue(parsing: "[" + String(repeating: "[],", count: 100) + "[]]") }
  }

  @Test func `duplicate names can be allowed, and the first counts`() throws {
    let value = try JSONValue(parsing: #"{"a":1,"a":2}"#, limits: JSONLimits(allowsDuplicateNames: true))
    #expect(value["a"] == 1)
    #expect(value.objectValue?.count == 2)
  }

  @Test func `an interrupted document is refused wherever it ends`() throws {
    let document = latin1(#"{"a":[1.5e-3,"x\n\ud83d\ude00",true,null],"b":{"c":false}}"#)
    #expect(throws: Never.self) { try JSONValue(parsing: document) }
    for end in 0..<document.count {
      #expect(throws: JSONViolation.self) { try JSONValue(parsing: Array(document[..<end])) }
    }
  }

  private func written(_ bytes: [UInt8]) -> String {
    var out = ByteBuffer()
    bytes.withUnsafeBytes { JSONWriter.append(string: $0, to: &out) }
    return String(decoding: out.copy(), as: UTF8.self)
  }

  @Test(arguments: [
    (latin1("plain text longer than a word"), #""plain text longer than a word""#),
    (latin1("a\"b\\c"), #""a\"b\\c""#),
    (latin1("\n\r\t\0\u{1B}[31m"), #""\n\r\t\u0000\u001b[31m""#),
    (latin1("0123456789\u{7F}0123456789"), #""0123456789\u007f0123456789""#),
    (Array("\u{80}\u{9B}\u{9F}\u{A0}".utf8), "\"\\u0080\\u009b\\u009f\u{A0}\""),
    (Array("\u{2028}\u{2029}\u{2027}".utf8), "\"\\u2028\\u2029\u{2027}\""),
    (Array("\u{202E}\u{2066}\u{200F}\u{061C}\u{FEFF}".utf8), #""\u202e\u2066\u200f\u061c\ufeff""#),
    (Array("\u{E9}\u{20AC}\u{1F600}".utf8), "\"\u{E9}\u{20AC}\u{1F600}\""),
    ([0xFF], "\"\u{FFFD}\""),
    ([0xC3], "\"\u{FFFD}\""),
    ([0xC3, 0x28], "\"\u{FFFD}(\""),
    ([0xC0, 0x80], "\"\u{FFFD}\u{FFFD}\""),
    ([0xED, 0xA0, 0x80], "\"\u{FFFD}\u{FFFD}\u{FFFD}\""),
    ([0xE2, 0x82, 0x22], "\"\u{FFFD}\u{FFFD}\\\"\""),
    ([0xF4, 0x90, 0x80, 0x80], "\"\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\""),
    ([], "\"\""),
  ])
  func `a string cannot break a line or fool a terminal`(_ bytes: [UInt8], _ json: String) {
    #expect(written(bytes) == json)
  }

  @Test func `whatever is written is valid JSON with the same valid text`() throws {
    var random = SeededRandom(seed: 64)
    for _ in 0..<5_000 {
      let bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in
        Bool.random(using: &random)
          ? UInt8.random(in: 0x20...0x7E, using: &random) : UInt8.random(in: 0...255, using: &random)
      }
      let json = written(bytes)
      #expect(json.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
      let value = try JSONValue(parsing: json)
      if let text = String(validating: bytes, as: UTF8.self) { #expect(value == .string(text)) }
    }
  }

  @Test func `random bytes never trap the parser`() {
    var random = SeededRandom(seed: 8_259)
    let seed = latin1(#"{"a":[1.5e-3,"x\n\ud83d\ude00",true,null],"b":{"c":false,"d":[]}}"#)
    var refused = 0
    for _ in 0..<50_000 {
      let mutated = mutate(seed, using: &random)
      do {
        let value = try JSONValue(parsing: mutated)
        #expect(try JSONValue(parsing: value.serialised()) == value)
      } catch {
        refused += 1
      }
    }
    #expect(refused > 10_000)
  }
}
