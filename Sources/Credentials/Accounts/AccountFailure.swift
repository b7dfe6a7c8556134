/// Why an operation on accounts failed. Its texts are for the user and hold no secret.
package struct AccountFailure: Error, Sendable, Equatable {
  package enum Kind: Sendable {
    /// What was asked for makes no sense.
    case invalid
    case notFound
    /// It exists already, or somebody else changed it.
    case conflict
    /// The profile does not allow it.
    case forbidden
    case locked
    case loginRequired
    /// The issuer can't be reached; later it may.
    case unavailable
    /// The issuer says no.
    case refused
    /// The store can't be read or written.
    case storage
  }

  package let kind: Kind
  /// A short stable word.
  package let code: String
  package let detail: String
  /// One thing to do.
  package let next: String

  package init(_ kind: Kind, code: String, detail: String, next: String) {
    self.kind = kind
    self.code = code
    self.detail = detail
    self.next = next
  }
}
