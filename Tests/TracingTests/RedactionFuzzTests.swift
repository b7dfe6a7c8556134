import Testing

@testable import Tracing

@Suite struct RedactionFuzzTests {
  static let pieces = [
    "/", "?", "&", "=", "#", ";", ":", "//", "://", "@", ".", ",", "%", "%2", "%25", "%2F", "%3D", "%26", "%3F", "%22",
    "\"", "'", "\\", "\\\"", "{", "}", "[", "]", "+", " ", "-", "_", "token", "access_token", "code", "state", "key",
    "client_id", "password", "user", "https", "[redacted:1a2b3c4d]", "[redacted:", "…", "eyJ",
    "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJib2IifQ.c2ln", "eyA", "ghp_", "sk-", "Bearer ", "basic+", "dXNlcjpwYXNzd29yZA==",
    "9b2d7c1e4f5a68039b2d7c1e4f5a6803", "Xk29dPq0LmZ7vT3c", "reset", "commits", "orders", "1", "42", "\u{1F600}",
    "\r\n",
    "550e8400-e29b-41d4-a716-446655440000", "-----BEGIN", "KEY-----", "PHNhbWxw", "otpauth://", "00", "1//0", "é",
  ]

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `redacting is idempotent whatever the target`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<500 {
      let target = (0..<Int.random(in: 1...24, using: &random))
        .map { _ in Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)] }.joined()
      let once = redacted(target)
      #expect(redacted(once) == once, "\(target)")
    }
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `cutting long targets keeps them idempotent and bounded`(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    for _ in 0..<40 {
      let target = (0..<400)
        .map { _ in Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)] }.joined()
      let once = redacted(target)
      #expect(once.utf8.count <= TargetRedactor.shownBytesMax)
      #expect(redacted(once) == once, "\(target)")
    }
  }

  @Test func `a token is not shown by halves wherever the cut falls`() {
    let jwt = RedactionMatrixTests.jwt
    for start in TargetRedactor.shownBytesMax - jwt.count - 40..<TargetRedactor.shownBytesMax + 40 {
      let filler = String(repeating: "ab/", count: 1_000).prefix(start)
      for target in ["/\(filler)\(jwt)/tail", "/\(filler)?q=\(jwt)", "/\(filler)?token=opaque-value"] {
        let shown = redacted(target + String(repeating: "/x", count: 2_000))
        #expect(shown.utf8.count <= TargetRedactor.shownBytesMax)
        #expect(!shown.contains("eyJ") && !shown.contains("opaque"))
      }
    }
  }

  @Test func `what is cut off is cut between parts`() {
    let target = "/search?ids=" + (0..<2_000).map(String.init).joined(separator: ",")
    let shown = redacted(target)
    #expect(shown.hasSuffix(",…"))
    #expect(target.hasPrefix(shown.dropLast()))
  }

  @Test func `nothing is shown of a target longer than any head`() {
    #expect(redacted("/" + String(repeating: "a/", count: 40_000)).withoutHashes == "[…]")
  }

  /// Each repeats something that a rule looks at; a rule that read on from every place would need minutes.
  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      "a=", "key=", "key=\"", "\"token\":[", "\"key\":{", "'k':1", "eyA-", "eyJ", "sk-", "1//0", "SG.", "://", "a:/",
      "@",
      "%25", "%2525", "/", "//", "/a?", "basic+", "-----BEGIN", "YWI/", "\\\"", "\\\\", "[redacted:", "token[",
      "key.key=",
      "/reset", "PHNhbWx", "/B12345678", "Zm9v", "\"a\":",
    ])
  func `time grows with the length alone`(piece: String) {
    let target = String(repeating: piece, count: 32_768 / piece.utf8.count)
    let before = ThreadTime.nanoseconds
    _ = redacted(target)
    // Debug builds are some 30 times slower than what users run.
    #expect(ThreadTime.nanoseconds - before < 4_000_000_000)
  }
}
