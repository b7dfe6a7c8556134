import Foundation
import HTTPWire
import Testing

@testable import Simulators

@Suite struct ManualTests {
  private static func manual() throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent("Examples/Simulator/README.md"), encoding: .utf8)
  }

  @Test func `the manual names every mode, verdict, setting and fault`() throws {
    let manual = try Self.manual()
    var names = NonceMode.allCases.map(\.rawValue) + Verdict.allCases.map(\.rawValue)
    names += BodyEncoding.allCases.map(\.rawValue) + APISettings.Rejection.allCases.map(\.rawValue)
    names += NonceChallenge.BearerChallenge.allCases.map(\.rawValue)
    names += AuthorizationServerSettings.ExpiresInForm.allCases.map(\.rawValue)
    names += AuthorizationServerSettings.TokenBinding.allCases.map(\.rawValue)
    names += AuthorizationServerSettings.IDTokenPresence.allCases.map(\.rawValue)
    names += RefreshPolicy.Rotation.allCases.map(\.rawValue) + SimulatedGrant.Revocation.allCases.map(\.rawValue)
    names += SimulatedClient.Authentication.allCases.map(\.rawValue)
    names += GrantType.allCases.map(\.rawValue)
    names += Self.keys(SettingsJSON.table.json(SimulationSettings()))
    let faults: [Fault] = [
      .pass, .delay(.head, milliseconds: 0), .hold(.head, gate: ""), .drop(.head, .close), .answer(Answer(status: 200)),
      .raw([], keepsOpen: false), .status(200), .addFields([]), .encode(.chunked), .truncate(.withoutLastChunk, .close),
      .pace(Pace(bytes: 1, pauseMilliseconds: 0)), .interim(status: 103, fields: []), .withholdContinue,
      .closeAfterAnswer(.close), .expireNonces, .revokeTokens,
    ]
    names += faults.map(\.name)
    for name in names {
      let isNamed = manual.contains("`\(name)`")
      #expect(isNamed, "\(name)")
    }
  }

  @Test func `the rules and settings that the manual shows are valid`() throws {
    let shown = try Self.manual().matches(of: /-d '(\{.*\})'/).map { String($0.output.1) }
    #expect(shown.count == 5)
    for text in shown {
      let value = try JSONValue(parsing: text)
      if value["faults"] != nil {
        _ = try FaultReader.rule(value)
      } else if value["subject"] != nil {
        _ = try GrantJSON.seed(value)
      } else {
        var settings = SimulationSettings()
        try SettingsJSON.table.apply(value, to: &settings, at: "settings")
      }
    }
  }

  private static func keys(_ value: JSONValue) -> [String] {
    (value.objectValue ?? []).flatMap { [$0.0] + keys($0.1) }
  }
}
