import Cryptography
import HTTPWire
import Testing
import Tracing

@testable import Gateway

/// Design §5: one table, one form.
struct OwnAnswerTests {
  private func text(
    _ answer: OwnAnswer, detail: String = "what <happened> \"here\"", html: Bool = false, headOnly: Bool = false,
    retry: Int? = nil
  ) -> String {
    var output = ByteBuffer()
    answer.append(
      to: &output, detail: detail, html: html, keepAlive: true, headOnly: headOnly,
      retryAfterSeconds: retry)
    return output.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [false, true])
  func `a held secret in the words of an issuer is masked`(html: Bool) throws {
    let secret = Secret(utf8: "gateway-held&value")
    try HeldSecrets.process.hold(secret, label: "x")
    defer { HeldSecrets.process.release(secret) }
    let text = text(.tokenRefused, detail: "invalid_client: gateway-held&value", html: html)
    #expect(text.contains("invalid_client: [redacted:"))
    #expect(!text.contains("gateway-held"))
  }

  @Test(arguments: OwnAnswer.allCases)
  func `every answer parses, names its code and is never cached`(answer: OwnAnswer) throws {
    let text = text(answer)
    let table = FieldTable(capacity: 100)
    try Array(text.utf8).withUnsafeBytes { bytes in
      var scanned = 0
      guard case .end(let headBytes) = HeadBoundary.find(bytes, scanned: &scanned) else {
        Issue.record("no head")
        return
      }
      let head = try ResponseHead.parse(
        bytes.slice(0..<headBytes), limits: HeadLimits(), fields: table, requestMethodIsHEAD: false
      ).get()
      #expect(head.status == answer.status)
      #expect(head.framing == .length(UInt64(bytes.count - headBytes)))
      let problem = try JSONValue(parsing: Array(bytes.slice(headBytes..<bytes.count)))
      #expect(problem["code"]?.stringValue == answer.rawValue)
      #expect(problem["status"]?.int64Value == Int64(answer.status))
      #expect(problem["type"]?.stringValue == "urn:proofd:error:\(answer.rawValue)")
      #expect(problem["detail"]?.stringValue == "what <happened> \"here\"")
      #expect(problem["title"]?.stringValue?.isEmpty == false && problem["next"]?.stringValue?.isEmpty == false)
    }
    #expect(text.contains("\r\nCache-Control: no-store\r\n"))
    #expect(text.contains("\r\nProofd-Error: \(answer.rawValue)\r\n"))
    #expect(text.contains("\r\nContent-Type: application/problem+json\r\n"))
  }

  @Test func `a browser that navigates gets a page that runs nothing`() {
    let text = text(.noRoute, html: true)
    #expect(text.contains("Content-Type: text/html; charset=utf-8"))
    #expect(text.contains("Content-Security-Policy: default-src 'none'"))
    #expect(text.contains("what &lt;happened&gt; &quot;here&quot;"))
  }

  @Test func `HEAD gets the head alone, with the length GET would have had`() {
    let whole = text(.noRoute)
    let head = text(.noRoute, headOnly: true)
    #expect(head.hasSuffix("\r\n\r\n") && whole.hasPrefix(head) && whole.count > head.count)
  }

  @Test func `Retry-After is in whole seconds`() {
    #expect(text(.tokenUnavailable, retry: 7).contains("\r\nRetry-After: 7\r\n"))
  }
}
