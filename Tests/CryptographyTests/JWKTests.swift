import Cryptography
import Testing

@Suite struct JWKTests {
  static let ec = #""kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
  static let y = #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0""#

  private func parse(_ text: String) throws -> JWK { try JWK(json: Array(text.utf8)) }

  private func expect(_ defect: KeyDefect, _ text: String, _ location: SourceLocation = #_sourceLocation) {
    #expect(throws: CryptographyError.malformedKey(defect), sourceLocation: location) { try parse(text) }
  }

  @Test func `a key shows its required members in lexicographic order`() throws {
    let key = try parse("{\(Self.ec)\(Self.y)}")
    #expect(
      key.json
        == #"{"crv":"P-256","kty":"EC","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#)
    #expect(try parse(key.json) == key)
  }

  @Test func `members that are not the key change neither it nor its thumbprint`() throws {
    let plain = try parse("{\(Self.ec)\(Self.y)}")
    let dressed = try parse(#"{"use":"sig","kid":"1","x5c":["d"],"nested":{"d":"not ours"},\#(Self.ec)\#(Self.y)}"#)
    #expect(plain == dressed)
    #expect(plain.thumbprint == dressed.thumbprint)
  }

  @Test(arguments: ["d", "p", "q", "dp", "dq", "qi", "oth", "k"])
  func `a key with a private member is refused, whatever its type`(member: String) {
    expect(.privateMember, #"{"\#(member)":"AQAB",\#(Self.ec)\#(Self.y)}"#)
    expect(.privateMember, #"{"\#(member)":null,"kty":"RSA"}"#)
  }

  @Test(arguments: [
    #"{"kty":"oct"}"#, #"{"kty":"EC","crv":"P-384"}"#, #"{"kty":"EC"}"#, #"{"kty":"ec","crv":"P-256"}"#,
    #"{"kty":"OKP","crv":"X25519"}"#, #"{"kty":1}"#, #"{}"#,
  ])
  func `key types that are not supported are refused`(text: String) { expect(.unsupportedType, text) }

  @Test func `coordinates have exactly 32 bytes`() {
    let x31 = Base64URL.encode([UInt8](repeating: 1, count: 31))
    let x33 = Base64URL.encode([0] + [UInt8](repeating: 1, count: 32))
    for x in [x31, x33, ""] {
      expect(.coordinateSize, #"{"kty":"EC","crv":"P-256","x":"\#(x)",\#(Self.y)}"#)
      expect(.coordinateSize, #"{"kty":"OKP","crv":"Ed25519","x":"\#(x)"}"#)
    }
  }

  @Test func `a member that is missing, padded or no string is refused`() {
    expect(.memberMissing, #"{"kty":"EC","crv":"P-256",\#(Self.y)}"#)
    expect(.memberMissing, #"{"kty":"EC","crv":"P-256","x":5,\#(Self.y)}"#)
    expect(.memberMissing, #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU=",\#(Self.y)}"#)
    expect(.memberMissing, #"{"kty":"RSA","e":"AQAB"}"#)
  }

  @Test func `a point off the curve is refused`() {
    expect(.notOnCurve, "{\(Self.ec)\(Self.y.replacing("x_FE", with: "x_FF"))}")
    let zero = Base64URL.encode([UInt8](repeating: 0, count: 32))
    expect(.notOnCurve, #"{"kty":"EC","crv":"P-256","x":"\#(zero)","y":"\#(zero)"}"#)
    let high = Base64URL.encode([UInt8](repeating: 0xFF, count: 32))  // not below the prime
    expect(.notOnCurve, #"{"kty":"EC","crv":"P-256","x":"\#(high)","y":"\#(high)"}"#)
  }

  @Test func `RSA numbers outside the limits are refused`() {
    func rsa(modulusBytes: Int, first: UInt8 = 0x80, exponent: [UInt8] = [1, 0, 1]) -> String {
      let modulus = [first] + [UInt8](repeating: 0xFF, count: modulusBytes - 1)
      return #"{"kty":"RSA","n":"\#(Base64URL.encode(modulus))","e":"\#(Base64URL.encode(exponent))"}"#
    }
    #expect(throws: Never.self) { try parse(rsa(modulusBytes: 256)) }
    #expect(throws: Never.self) { try parse(rsa(modulusBytes: 1024, exponent: [3])) }
    for text in [
      rsa(modulusBytes: 128), rsa(modulusBytes: 255), rsa(modulusBytes: 1025), rsa(modulusBytes: 257, first: 0),
    ] {
      expect(.modulusSize, text)
    }
    for exponent: [UInt8] in [[], [1], [2], [1, 0], [0, 3], [1, 0, 0, 0, 1]] {
      expect(.exponent, rsa(modulusBytes: 256, exponent: exponent))
    }
  }

  @Test func `what is no JSON object with unique members is refused`() {
    expect(.notJSON, "")
    expect(.notJSON, "[]")
    expect(.notJSON, #"{"kty":"EC",\#(Self.ec)\#(Self.y)}"#)
  }
}
