import Cryptography
import Foundation
import HTTPWire
import Testing

@testable import Tracing

/// What a daemon with many accounts pays. As with `RecordCostTests`, only optimised builds say anything.
@Suite(.enabled(if: BuildKind.isOptimised), .serialized) struct HeldSecretsCostTests {
  /// A key's scalar, refresh tokens now and before, a PKCS#8 key in base64, access tokens now and before, an ID token.
  private static let characterCounts = [43, 48, 48, 184, 700, 700, 1_100]

  private func secrets(_ count: Int) -> [Secret] {
    var random = SeededRandom(seed: 7)
    return (0..<count).map { number in
      let characterCount = Self.characterCounts[number % Self.characterCounts.count]
      return Secret(utf8: random.characters(characterCount, of: Alphabet.base64URL))
    }
  }

  @Test(arguments: [0, 100, 12_000])
  func `a line costs little more however many values are held`(count: Int) throws {
    let held = HeldSecrets()
    try held.hold(all: secrets(count).map { (secret: $0, label: "acme: access token") })
    let subject = RecordSubject(
      route: LogLabel("orders"), upstream: LogLabel(url: "https://api.example.com/v1/orders"))
    let draft = RecordDraft(target: "/orders?limit=10&offset=20") { record in
      record.subject = subject
      record.status = 200
      record.source = .upstream
      record.durationNanoseconds = 812_345
      record.upstreamNanoseconds = 745_012
      record.auth = AuthEvents(.cached)
      record.reused = true
    }
    var encoder = RecordEncoder(heldSecrets: held)
    let masker = HeldSecretMasker(held)
    var (encoding, masking) = (Int.max, Int.max)
    for _ in 0..<15 {
      var out = ByteBuffer()
      let before = ThreadTime.nanoseconds
      for _ in 0..<2_000 { draft.withRecord { encoder.append($0, to: &out) } }
      let between = ThreadTime.nanoseconds
      let batch = LineBatch(bytes: out.copy(), lineCount: 2_000)
      let start = ThreadTime.nanoseconds
      _ = masker.masked(batch)
      masking = min(masking, (ThreadTime.nanoseconds - start) / 2_000)
      encoding = min(encoding, (between - before) / 2_000)
    }
    print("\(count) held: \(encoding) ns to write a line, \(masking) ns to mask it")
    #expect(masking <= 1_500)
  }

  @Test(arguments: [12_000, HeldSecrets.countMax])
  func `holding and releasing thousands one by one takes no time to speak of`(count: Int) throws {
    let held = HeldSecrets()
    let secrets = secrets(count)
    let kibibytes = try ResidentMemory.kibibytes
    let before = ThreadTime.nanoseconds
    for secret in secrets { try held.hold(secret, label: "acme: access token") }
    let between = ThreadTime.nanoseconds
    let bytes = (try ResidentMemory.kibibytes - kibibytes) * 1_024 / count
    let start = ThreadTime.nanoseconds
    for secret in secrets { held.release(secret) }
    let end = ThreadTime.nanoseconds
    print(
      "\(count): \((between - before) / count) ns to hold, \((end - start) / count) ns to release, \(bytes) bytes each")
    #expect(between - before < count * 80_000)
    #expect(end - start < count * 80_000)
    #expect(held.labels.isEmpty)
  }
}

private enum ResidentMemory {
  static var kibibytes: Int {
    get throws {
      let status = try #require(try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
      return try #require(Int(line.filter(\.isNumber)))
    }
  }
}
