import Testing

@testable import Cryptography

@Suite struct JSONReaderTests {
  private func read(_ text: String) -> [String: JSONTree]? { JSONReader.object(Array(text.utf8)) }

  @Test func `an object is read with all kinds of values`() {
    let text = #" {"a":"x", "b" : [1, -2.5e+3, 0], "c":{"d":true,"e":false,"f":null},"g":{},"h":[]} "#
    #expect(
      read(text) == [
        "a": .string("x"), "b": .array([.number("1"), .number("-2.5e+3"), .number("0")]),
        "c": .object(["d": .bool(true), "e": .bool(false), "f": .null]), "g": .object([:]), "h": .array([]),
      ])
  }

  @Test func `escapes mean what RFC 8259 §7 says`() {
    #expect(read(#"{"s":"\"\\\/\b\f\n\r\tA\u00e9\ud83d\ude00é"}"#)?["s"] == .string("\"\\/\u{8}\u{C}\n\r\tAé😀é"))
  }

  @Test(arguments: [
    #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"a":{"b":1,"b":1}}"#, #"{"a":[{"b":1,"b":1}]}"#,
  ])
  func `a repeated member is refused at any depth, however it is spelt`(text: String) {
    #expect(read(text) == nil)
  }

  @Test(arguments: [
    "", " ", "null", "[]", "1", #""a""#, "{", "}", "{}x", "{}{}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{,}"#,
    #"{a:1}"#,
    #"{'a':1}"#, #"{"a":01}"#, #"{"a":+1}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":1e}"#, #"{"a":-}"#, #"{"a":NaN}"#,
    #"{"a":tru}"#, #"{"a":[1,]}"#, #"{"a":[1 2]}"#, #"{"a":"\x"}"#, #"{"a":"\u12"}"#, #"{"a":"\u12G4"}"#,
    #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#, #"{"a":"\ud800\u0041"}"#, "{\"a\":\"\n\"}", "{\"a\":\"\u{0}\"}",
    #"{"a":"open"#, "\u{FEFF}{}", "{}\u{0}", "/**/{}",
  ])
  func `what is not one JSON object is refused`(text: String) {
    #expect(read(text) == nil)
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    for bytes: [UInt8] in [[0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]] {
      #expect(JSONReader.object(Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)) == nil)
    }
  }

  @Test func `nesting ends at the limit`() {
    func nested(_ depth: Int) -> String {
      #"{"a":"# + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
    }
    #expect(read(nested(JSONReader.depthMax)) != nil)
    #expect(read(nested(JSONReader.depthMax + 1)) == nil)
    #expect(read(nested(100_000)) == nil)
  }

  @Test func `a text cut anywhere is refused and never traps`() {
    let whole = Array(#"{"alg":"ES256","jwk":{"x":"\u00e9\n"},"n":[-1.5e3,true,null]}"#.utf8)
    #expect(JSONReader.object(whole) != nil)
    for count in 0..<whole.count { #expect(JSONReader.object(Array(whole[..<count])) == nil) }
  }

  @Test func `a quoted text reads back as it was`() {
    for text in ["", "plain", "\"\\/", "\u{0}\u{1F}\n\t", "é😀"] {
      #expect(read(#"{"s":\#(JSONText.quoted(text))}"#)?["s"] == .string(text))
    }
  }
}
