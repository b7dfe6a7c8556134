import Testing

@testable import Tracing

/// Every kind of secret at every kind of place in every encoding.
@Suite struct RedactionMatrixTests {
  static let jwt = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJib2IiLCJleHAiOjE4MDB9.c2lnbmF0dXJlc2ln"
  static let secrets = [
    jwt, "hunter2hunter2", "a&b=c#d?e/f%g+h", "päßwörd-ünïcode", "p@ss:word", "{\"a\":\"b\"}",
    "kJ8dn2LqPz0XcV5bTr7YwEs3",
  ]
  /// `~` is where the secret goes; what stands around it is not encoded with it.
  static let named = [
    "/a?access_token=~", "/a?x=1&access_token=~&y=2", "/a?x=1&password=~#f", "/a#id_token=~&x=1", "/a?client-secret=~",
    "/a?user[password]=~&x=1", "https://api.example.com/a?apiKey=~", "/cb?code=~&state=x", "/cb?state=x&code=~",
  ]

  @Test(arguments: PercentForm.allCases, named)
  func `a named value is hidden in any encoding`(form: PercentForm, template: String) {
    for secret in Self.secrets where form != .raw || secret.allSatisfy({ !"&#".contains($0) }) {
      let shown = redacted(template.replacing("~", with: form.encode(secret)))
      let expected = template.replacing("~", with: "[…]").replacing("state=x", with: "state=[…]")
      #expect(shown.withoutHashes == expected, "\(secret)")
    }
  }

  @Test(arguments: PercentForm.allCases)
  func `a named value in a nested URL is hidden in any encoding`(form: PercentForm) {
    for secret in Self.secrets {
      let form = form == .raw ? .reserved : form
      let before = "/login?page=2&redirect=" + form.encode("https://app.example.com/cb?x=1&access_token=")
      let behind = form.encode("&y=2#z") + "&lang=de"
      let shown = redacted(before + form.encode(PercentForm.reserved.encode(secret)) + behind)
      #expect(shown.withoutHashes == before + "[…]" + behind, "\(secret)")
    }
  }

  @Test(arguments: PercentForm.allCases)
  func `a token is hidden anywhere in any encoding`(form: PercentForm) {
    let token = form.encode(Self.jwt)
    for template in ["/x/~", "/x/~/y", "/x?q=~", "/x?~", "/x?q=a,~,b", "/x?q=(~)", "/x#~", "/~", "~"] {
      #expect(redacted(template.replacing("~", with: token)).withoutHashes == template.replacing("~", with: "[…]"))
    }
  }

  @Test(arguments: [Alphabet.hexadecimal, Alphabet.base32, Alphabet.base62, Alphabet.base64URL], [32, 43, 64])
  func `a random path segment is hidden`(alphabet: String, count: Int) {
    var random = SeededRandom(seed: UInt64(count))
    let shown = (0..<1_000).count { _ in
      let segment = random.characters(count, of: alphabet)
      return redacted("/v1/things/\(segment)/details").contains(segment)
    }
    #expect(shown <= 2)
  }

  @Test func `one secret has one marker however it is written`() throws {
    let markers = PercentForm.allCases.map { form in
      redacted("/a?token=\(form.encode("s3cret/value+1"))&x=1")
    }
    #expect(Set(markers).count == 1)
    #expect(redacted("/a?token=another") != redacted("/a?token=one"))
  }
}
