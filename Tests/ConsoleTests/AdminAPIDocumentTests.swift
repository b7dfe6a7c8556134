import Foundation
import Testing

@testable import Console

/// `Config/admin-api.yaml` and the code say the same.
@Suite struct AdminAPIDocumentTests {
  private static func document() throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "Config/admin-api.yaml"), encoding: .utf8)
  }

  @Test func `every path of the document is served`() throws {
    let paths = try Self.document().split(separator: "\n").filter { $0.hasPrefix("  /") && $0.hasSuffix(":") }
      .map { String($0.dropFirst(2).dropLast()) }
    #expect(paths == ["/v1/status", "/v1/routes", "/v1/records"])
    let server = try RunningServer()
    let client = try server.client()
    for path in paths { #expect(try client.request("GET", path).status == 200) }
  }

  @Test func `every code and its status is in the document, and no other`() throws {
    let document = try Self.document()
    let problems: [AdminProblem] = [
      .badRequest(""), .badParameter(""), .callerUnknown, .crossSiteRefused, .notFound, .methodNotAllowed,
      .requestTimeout, .headTooLarge(""),
    ]
    for problem in problems { #expect(document.contains("            - \(problem.code)\n")) }
    #expect(document.components(separatedBy: "\n            - ").count - 1 == problems.count)
    for status in Set(problems.map(\.status.rawValue)) { #expect(document.contains("\(status) `")) }
  }

  @Test func `the document names the bounds of the query`() throws {
    let document = try Self.document()
    #expect(document.contains("maximum: \(RecordsQuery.lastMax), default: \(RecordsQuery.lastDefault)"))
  }
}
