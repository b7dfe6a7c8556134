import Credentials
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

  /// The methods of each path, as the document has them.
  private static func operations() throws -> [String: [String]] {
    var operations: [String: [String]] = [:]
    var path = ""
    for line in try document().split(separator: "\n") {
      if line.hasPrefix("  /") { path = String(line.dropFirst(2).dropLast()) }
      guard line.hasPrefix("    "), line.hasSuffix(":"), !path.isEmpty else { continue }
      let name = line.dropFirst(4).dropLast()
      if ["get", "post", "patch", "put", "delete"].contains(name) {
        operations[path, default: []].append(String(name))
      }
      if line.hasPrefix("components") { break }
    }
    return operations
  }

  @Test func `every path of the document is served, with the methods it names and no other`() async throws {
    let operations = try Self.operations()
    #expect(
      operations.keys.sorted() == [
        "/v1/accounts", "/v1/accounts/{name}", "/v1/accounts/{name}/headers", "/v1/accounts/{name}/identity",
        "/v1/accounts/{name}/import", "/v1/accounts/{name}/token", "/v1/lock", "/v1/records", "/v1/routes",
        "/v1/status", "/v1/unlock",
      ])
    try await onThread {
      let server = try RunningServer()
      let client = try server.client()
      for (path, methods) in operations {
        let target = path.replacing("{name}", with: "acme%2Fwork")
        let allowed = try client.request("OPTIONS", target).fields["allow"]?.replacing(", HEAD", with: "").lowercased()
        #expect(allowed == methods.joined(separator: ", "), "\(path)")
        for method in methods {
          #expect(![404, 405].contains(try client.request(method.uppercased(), target).status), "\(method) \(path)")
        }
      }
    }
  }

  @Test func `every code and its status is in the document, and no other`() throws {
    let document = try Self.document()
    let problems: [AdminProblem] = [
      .badRequest(""), .badParameter(""), .callerUnknown, .crossSiteRefused, .notFound, .methodNotAllowed(allow: []),
      .requestTimeout, .contentTooLarge, .contentNotJSON, .headTooLarge(""),
    ]
    for problem in problems { #expect(document.contains("            - \(problem.code)\n")) }
    #expect(document.components(separatedBy: "\n            - ").count - 1 == problems.count)
    for status in Set(problems.map(\.status.rawValue)) { #expect(document.contains("\(status) `")) }
  }

  @Test func `the status of each kind of failure is in the document`() throws {
    let document = try Self.document()
    let kinds: [AccountFailure.Kind] = [
      .invalid, .notFound, .conflict, .forbidden, .locked, .loginRequired, .unavailable, .refused, .storage,
    ]
    for kind in kinds {
      let status = AdminProblem.account(AccountFailure(kind, code: "", detail: "", next: "")).status.rawValue
      #expect(document.contains("        \(status): "), "\(status)")
    }
  }

  @Test func `the document names every state of an account and the most content`() throws {
    let document = try Self.document()
    let states: [AccountStatus.State] = [
      .idle, .ready, .expiring, .refreshing, .unavailable, .refused, .loginRequired, .locked, .sessionExpired,
      .keyMissing, .keyMismatch, .rotationInterrupted, .storeFailed,
    ]
    #expect(document.contains("enum: [\(states.map(\.rawValue).joined(separator: ", "))]"))
    #expect(document.contains("\(AccountAPI.contentBytesMax >> 10) KiB"))
  }

  @Test func `the document names the bounds of the query`() throws {
    let document = try Self.document()
    #expect(document.contains("maximum: \(RecordsQuery.lastMax), default: \(RecordsQuery.lastDefault)"))
  }
}
