import HTTPWire

/// What all requests of a route, or all calls for a credential, have in common in the log: written once, and copied
/// into each record.
package final class RecordSubject: Sendable {
  /// The members before the method, each with the comma before it.
  let opening: [UInt8]
  /// The `upstream` member behind the target, likewise.
  let upstream: [UInt8]

  /// - Parameters:
  ///   - credential: the account, `acme` or `acme/work`.
  ///   - upstream: where it goes: the upstream's base URL or the endpoint's URL.
  package init(route: LogLabel? = nil, credential: LogLabel? = nil, upstream: LogLabel? = nil) {
    opening = Self.member(",\"route\":", route) + Self.member(",\"credential\":", credential)
    self.upstream = Self.member(",\"upstream\":", upstream)
  }

  private static func member(_ name: StaticString, _ label: LogLabel?) -> [UInt8] {
    guard let label else { return [] }
    return Array(name.description.utf8) + label.json
  }
}
