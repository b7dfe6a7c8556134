import HTTPWire
import Testing

struct ChallengeTests {
  /// Challenges in a form that is easy to read and to compare.
  private func parse(_ lines: String...) -> [String] {
    Challenge.parse(lines).map { challenge in
      let token = challenge.token68.map { [" \($0)"] } ?? []
      let parameters = challenge.parameters.map { " \($0.name)=[\($0.value)]" }
      return challenge.scheme + (token + parameters).joined()
    }
  }

  @Test func `the example of RFC 9110 §11_6_1 is two challenges`() {
    #expect(
      parse(#"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#)
        == ["Basic realm=[simple]", #"Newauth realm=[apps] type=[1] title=[Login to "apps"]"#])
  }

  @Test func `a DPoP challenge is found behind another scheme`() {
    // modelcontextprotocol/python-sdk#3012, AzureAD/azure-activedirectory-library-for-objc#1042
    #expect(
      parse(#"Basic realm="r", DPoP error="use_dpop_nonce", algs="ES256""#)
        == ["Basic realm=[r]", "DPoP error=[use_dpop_nonce] algs=[ES256]"])
    #expect(parse(#"DPoP algs="ES256 PS256", Bearer"#) == ["DPoP algs=[ES256 PS256]", "Bearer"])
    #expect(parse(#"Bearer, DPoP algs="ES256""#) == ["Bearer", "DPoP algs=[ES256]"])
    #expect(
      parse(#"Basic realm="r""#, #"DPoP error="use_dpop_nonce""#) == ["Basic realm=[r]", "DPoP error=[use_dpop_nonce]"])
  }

  @Test func `scheme and parameter names are case-insensitive`() {
    // keycloak/keycloak#48387, DuendeSoftware/products#1969
    let challenges = Challenge.parse([#"dpop ERROR="use_dpop_nonce""#])
    #expect(challenges.count == 1)
    #expect(challenges.first?.isScheme("DPoP") == true)
    #expect(challenges.first?["error"] == "use_dpop_nonce")
    #expect(challenges.first?["Error"] == "use_dpop_nonce")
    #expect(challenges.first?.isScheme("DPo") == false)
    #expect(challenges.first?["err"] == nil)
  }

  @Test func `each error belongs to its own scheme`() {
    let challenges = Challenge.parse([
      #"Bearer error="invalid_token", DPoP error="use_dpop_nonce", Basic realm="x""#
    ])
    #expect(challenges.map { $0["error"] } == ["invalid_token", "use_dpop_nonce", nil])
  }

  @Test(arguments: [
    // token68
    ("Negotiate", ["Negotiate"]),
    ("Negotiate YWJj==", ["Negotiate YWJj=="]),
    ("Negotiate a+b/c-d._~=", ["Negotiate a+b/c-d._~="]),
    ("Negotiate abc, Basic realm=x", ["Negotiate abc", "Basic realm=[x]"]),
    ("Negotiate abc=,NTLM", ["Negotiate abc=", "NTLM"]),
    ("Negotiate  abc  ,  NTLM  ", ["Negotiate abc", "NTLM"]),
    // Whitespace and empty elements
    ("Bearer error = \"a\" , x\t=\ty", ["Bearer error=[a] x=[y]"]),
    ("Bearer error=\"a\",x=\"b\"", ["Bearer error=[a] x=[b]"]),
    (", ,Bearer error=a,, ,x=b, ,DPoP,", ["Bearer error=[a] x=[b]", "DPoP"]),
    ("", []), (" \t, ,", []),
    ("Bearer\terror=a", ["Bearer error=[a]"]),
    // Quoted strings
    (#"Bearer realm="a, DPoP error=\"x\"", error=y"#, [#"Bearer realm=[a, DPoP error="x"] error=[y]"#]),
    (#"Bearer realm="\\", error="a\b""#, [#"Bearer realm=[\] error=[ab]"#]),
    (#"Bearer realm="""#, ["Bearer realm=[]"]),
    ("Bearer realm=\"\u{E9}\"", ["Bearer realm=[\u{E9}]"]),
    // Unknown and repeated parameters
    ("DPoP algs=\"ES256\", x-new=1, error=a, error=b", ["DPoP algs=[ES256] x-new=[1] error=[a] error=[b]"]),
    // Not by the book, but it can mean only one thing
    (#"Bearer realm="a" error="b""#, ["Bearer realm=[a] error=[b]"]),
    ("Bearer realm=https://api.example.com/x?y=z, error=b", ["Bearer realm=[https://api.example.com/x?y=z] error=[b]"]),
    ("Bearer error=a DPoP error=b", ["Bearer error=[a]", "DPoP error=[b]"]),
    ("Bearer DPoP error=b", ["Bearer", "DPoP error=[b]"]),
    ("Bearer error=, DPoP error=b", ["Bearer error=", "DPoP error=[b]"]),
    ("Bearer realm=x, error=, DPoP error=b", ["Bearer realm=[x] error=[]", "DPoP error=[b]"]),
    // Garbage
    ("error=orphan, Bearer error=a", ["Bearer error=[a]"]),
    ("=, \"x, y\", @, Bearer error=a", ["Bearer error=[a]"]),
    ("Be@rer x=y, DPoP error=a", ["DPoP error=[a]"]),
    ("Bearer error=\"a\"junk, DPoP error=b", ["Bearer error=[a]", "DPoP error=[b]"]),
    ("{\"error\":\"x, y\"}, DPoP error=b", ["DPoP error=[b]"]),
    ("\", DPoP error=b", ["DPoP error=[b]"]),
    ("Bearer error=\"open, DPoP error=b", ["Bearer error=[open, DPoP error=b]"]),
    ("Bearer error=\"open\\", ["Bearer error=[open\\]"]),
    (#"Bearer error="open\""#, [#"Bearer error=[open"]"#]),
    ("Bearer error", ["Bearer error"]),
    ("Bearer =x, DPoP error=b", ["DPoP error=[b]"]),
  ])
  func `a line is read as what it can only mean`(_ line: String, _ expected: [String]) {
    #expect(parse(line) == expected)
  }

  @Test func `several lines are one list`() {
    #expect(
      parse("Bearer realm=x", "error=y, DPoP", "", "algs=ES256") == ["Bearer realm=[x] error=[y]", "DPoP algs=[ES256]"])
    // An open quote does not swallow the next line, nor does a backslash at the end of one its first byte.
    #expect(parse("Bearer realm=\"x\\", "DPoP error=y") == [#"Bearer realm=[x\]"#, "DPoP error=[y]"])
    #expect(parse("Bearer realm=\"x", "DPoP error=y") == ["Bearer realm=[x]", "DPoP error=[y]"])
  }

  @Test func `there are bounds on everything`() {
    let many = Challenge.parse([String(repeating: "A b=c, ", count: 1_000)])
    #expect(many.count == Challenge.challengesMax)
    #expect(many.allSatisfy { $0.parameters.count == 1 })
    let wide = Challenge.parse(["A " + String(repeating: "b=c, ", count: 1_000)])
    #expect(wide.first?.parameters.count == Challenge.parametersMax)
    let long = Challenge.parse(["A b=\"" + String(repeating: "c", count: 100_000)])
    #expect(long.first?["b"]?.utf8.count == Challenge.bytesMax - 5)
    #expect(Challenge.parse([String(repeating: ",", count: Challenge.bytesMax), "A"]).isEmpty)
  }

  @Test func `random lines never trap and a challenge on a line of its own is always found`() {
    var random = SeededRandom(seed: 55)
    let alphabet = latin1("Bearer DPoP,,==\"\"\\\\ \t@=error\u{80}")
    for _ in 0..<20_000 {
      let line = (0..<Int.random(in: 0...30, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) }
      let challenges = Challenge.parse([String(decoding: line, as: UTF8.self), "DPoP error=use_dpop_nonce"])
      #expect(challenges.last?.isScheme("DPoP") == true && challenges.last?["error"] == "use_dpop_nonce")
    }
  }

  @Test func `a quoted string reads back as it was`() {
    for text in ["", "plain", #"with "quotes" and \ too"#, "a, b=c"] {
      #expect(Challenge.parse(["X a=\(QuotedString.encode(text)), b=c"]).first?["a"] == text)
    }
    #expect(QuotedString.encode("a\r\nb\0") == "\"a  b \"")
  }
}
