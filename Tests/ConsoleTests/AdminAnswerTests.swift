import Cryptography
import HTTPWire
import Testing
import Tracing

@testable import Console

struct AdminAnswerTests {
  private func text(_ answer: AdminAnswer) -> String {
    String(decoding: answer.body, as: UTF8.self).replacing(/\[redacted:[0-9a-f]{8}\]/, with: "[…]")
  }

  @Test func `held secrets are masked in every body, unless it is there to reveal one`() throws {
    let secret = Secret(utf8: "console-held-value")
    try HeldSecrets.process.hold(secret, label: "x")
    defer { HeldSecrets.process.release(secret) }
    let json: JSONValue = ["detail": "the issuer said \"console-held-value\""]
    #expect(text(AdminAnswer(json)) == #"{"detail":"the issuer said \"[…]\""}"# + "\n")
    #expect(text(AdminProblem.badRequest("console-held-value").answer).contains(#""detail":"[…]""#))
    #expect(text(AdminAnswer(revealing: json)) == #"{"detail":"the issuer said \"console-held-value\""}"# + "\n")
  }
}
