import HTTPWire
import Testing

@testable import Gateway

/// Which fields pass behind a body (RFC 9110 §6.5.1).
struct TrailerFieldsTests {
  private func passed(_ lines: [String], removed: String = "") throws -> [String] {
    let table = FieldTable(capacity: 100)
    var output = ByteBuffer()
    try Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8).withUnsafeBytes { bytes in
      try TrailerSection.parse(bytes, limits: HeadLimits(), fields: table).get()
      TrailerFields.append(table, in: bytes, to: &output) { String(decoding: $0, as: UTF8.self) == removed }
    }
    return String(decoding: output.copy(), as: UTF8.self).split(separator: "\r\n").map(String.init)
  }

  @Test func `checksums, states and what an application calls its own pass, as they were written`() throws {
    let lines = [
      "X-Amz-Checksum-CRC32: AAAA==", "grpc-status: 0", "Grpc-Message:", "Content-Digest: sha-256=:x:", "ETag: \"e\"",
      "Server-Timing: a;dur=1", "X-Sum: \u{e9}\t1",
    ]
    #expect(
      try passed(lines).map { $0.replacing(":", with: "").filter { $0 != " " } }
        == lines.map { $0.replacing(":", with: "").filter { $0 != " " } })
  }

  @Test(arguments: [
    "Transfer-Encoding", "Content-Length", "Host", "Authorization", "Proxy-Authorization", "proxy-anything", "Cookie",
    "Set-Cookie", "DPoP", "DPoP-Nonce", "WWW-Authenticate", "Authentication-Info", "Connection", "Keep-Alive", "TE",
    "Trailer", "Upgrade", "Content-Encoding", "Content-Type", "Content-Range", "Expect", "Cache-Control",
    "Max-Forwards", "Forwarded", "X-Forwarded-For", "X-Forwarded-Anything", "Proofd-Error", "Age", "Date", "Expires",
    "Location", "Retry-After", "Vary", "Pragma", "Range", "If-Match", "If-Range", "Origin", "Sec-Fetch-Site",
    "Access-Control-Allow-Origin", "X-HTTP-Method-Override", "X-Original-URL", "Via", "Refresh",
  ])
  func `what should have been acted on before the body does not pass`(name: String) throws {
    let underscored = name.replacing("-", with: "_")
    #expect(try passed(["\(name): 1", "\(name.uppercased()): 1", "\(underscored): 1", "X-Kept: 1"]) == ["X-Kept: 1"])
    let table = FieldTable(capacity: 100)
    var output = ByteBuffer()
    try Array("Trailer: \(name), X-Kept, X-Removed\r\nTrailer: x-more\r\n\r\n".utf8).withUnsafeBytes { bytes in
      try TrailerSection.parse(bytes, limits: HeadLimits(), fields: table).get()
      TrailerFields.appendAnnouncement(table, in: bytes, to: &output) { $0.bytes(equal: "X-Removed") }
    }
    #expect(String(decoding: output.copy(), as: UTF8.self) == "Trailer: X-Kept, x-more\r\n")
  }

  @Test func `what the route removes does not pass`() throws {
    #expect(try passed(["X-Api-Key: k", "X-Kept: 1"], removed: "X-Api-Key") == ["X-Kept: 1"])
  }

  @Test func `a body's end carries what was kept until it is released`() {
    let budget = KeptBytesBudget(bytes: 100)
    var body = RequestBody()
    func end(_ body: borrowing RequestBody) -> String {
      var output = ByteBuffer()
      body.appendEnd(to: &output)
      return String(decoding: output.copy(), as: UTF8.self)
    }
    body.begin(.chunked, limitBytes: 10)
    #expect(end(body) == "0\r\n\r\n")
    body.keepTrailers { $0.append("A: b\r\n") }
    for _ in 0..<2 { #expect(end(body) == "0\r\nA: b\r\n\r\n") }
    body.settle(budget: budget)
    #expect(end(body) == "0\r\nA: b\r\n\r\n")
    body.release(budget: budget)
    #expect(end(body) == "0\r\n\r\n")
  }
}
