import Cryptography
import Glibc
import Testing
import Tracing

@testable import Commands

struct TerminalMaskTests {
  @Test func `held secrets are masked in all that is written, and shown where one is revealed`() async throws {
    let ended = try await #require(
      processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
    ) {
      let terminal = Terminal(isColoured: false)
      do { try HeldSecrets.process.hold(Secret(utf8: "held-value"), label: "x") } catch { exit(1) }
      terminal.result("result held-value.")
      terminal.result(json: Array(#"{"json":"held-value"}"#.utf8 + [10]))
      terminal.announce("announce held-value.")
      terminal.talk("talk held-value.")
      terminal.reveal("reveal held-value.")
      exit(0)
    }
    let marker = /\[redacted:[0-9a-f]{8}\]/
    let output = String(decoding: ended.standardOutputContent, as: UTF8.self).replacing(marker, with: "[…]")
    #expect(output.contains("result […].\n{\"json\":\"[…]\"}\nannounce […].\nreveal held-value.\n"))
    let talk = String(decoding: ended.standardErrorContent, as: UTF8.self).replacing(marker, with: "[…]")
    #expect(talk.contains("talk […].\n"))
    #expect(!talk.contains("held-value"))
  }
}
