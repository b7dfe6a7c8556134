import HTTPWire
import Testing

@testable import Tracing

/// A target of the corpus, with what the log must make of it.
struct Planted: CustomTestStringConvertible {
  let target: String
  let secrets: [Substring]
  let shown: String

  init(_ marked: Substring) {
    target = marked.filter { $0 != "⟦" && $0 != "⟧" }
    secrets = marked.matches(of: /⟦(.*?)⟧/).map { $0.1 }
    // User names go without a trace.
    shown = String(marked).replacing(/⟦[^⟧]*⟧(?:@|%40)/, with: "").replacing(/⟦.*?⟧/, with: "[…]")
  }

  var testDescription: String { target }
}

extension String {
  /// The text with the hex of its markers taken out, so that it can be compared.
  var withoutHashes: String { replacing(/\[redacted:[0-9a-f]{8}\]/, with: "[…]") }
}

@Suite struct TargetRedactorTests {
  @Test func `the corpora are as large as promised`() {
    #expect(SecretTargets.all.count >= 150)
    #expect(HarmlessTargets.all.count >= 150)
  }

  @Test(arguments: SecretTargets.all.map(Planted.init))
  func `exactly the planted secrets are replaced`(planted: Planted) {
    #expect(redacted(planted.target).withoutHashes == planted.shown)
  }

  @Test(arguments: HarmlessTargets.all)
  func `a harmless target stays readable`(target: String) {
    #expect(redacted(target) == target)
  }

  @Test(arguments: SecretTargets.all.map(Planted.init))
  func `redacting twice is redacting once`(planted: Planted) {
    let once = redacted(planted.target)
    #expect(redacted(once) == once)
  }
}
