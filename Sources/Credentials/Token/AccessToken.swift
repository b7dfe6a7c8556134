package import Cryptography
import Synchronization

/// One usable credential value: immutable, shared by all loops.
///
/// An exchange keeps the one it started with: a replay for a nonce never looks "the current token" up again.
package final class AccessToken: Sendable {
  /// Where in a request the value goes.
  enum Placement: Sendable {
    /// A header field, e.g. `Authorization` with `DPoP eyJ…`.
    case field(name: String, value: Secret)
    /// A query parameter; the value is percent-encoded already.
    case query(name: String, value: Secret)
  }

  /// The value as a whole field line, CR LF included, or nil: ready for every request's head.
  package let fieldLine: Secret?
  /// The value as `name=value` for the query, or nil.
  package let queryParameter: Secret?
  /// The `ath` claim of its proofs: 43 bytes, or none if there is no proof. RFC 9449 §4.2
  package let ath: [UInt8]
  /// The key the token is bound to. If there is one, every send carries a proof by it.
  package let proofKey: ProofKey?
  /// Unlike that of any other token of this process.
  package let generation: UInt64
  /// Boot clock at receipt, for the token's age.
  package let receivedBootNanoseconds: Int64
  /// Wall clock at which the token ends; nil if it does not end by time.
  package let expiresAtUnixSeconds: Int64?

  /// The field the value goes into, if it goes into one: name and value.
  let field: (name: String, value: Secret)?
  /// The value alone, without scheme and encoding: what the redactor has to know.
  let secret: Secret
  /// Another form of it that shows in requests.
  let derived: Secret?

  init(
    secret: Secret, derived: Secret? = nil, placement: Placement, proofKey: ProofKey?, receivedBootNanoseconds: Int64,
    expiresAtUnixSeconds: Int64?
  ) {
    self.secret = secret
    self.derived = derived
    switch placement {
    case .field(let name, let value):
      fieldLine = Secret("\(name): ", value, "\r\n")
      field = (name, value)
      queryParameter = nil
    case .query(let name, let value):
      fieldLine = nil
      field = nil
      queryParameter = Secret("\(name)=", value)
    }
    self.proofKey = proofKey
    self.receivedBootNanoseconds = receivedBootNanoseconds
    self.expiresAtUnixSeconds = expiresAtUnixSeconds
    ath = proofKey == nil ? [] : Array(Base64URL.encode(secret.withUnsafeBytes { SHA256.hash($0) }).utf8)
    generation = Self.generations.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Everything of it that must not show.
  var secrets: [Secret] { derived.map { [secret, $0] } ?? [secret] }

  private static let generations = Atomic<UInt64>(0)

  /// `Bearer` or `DPoP`; nil for a static credential of another kind.
  var scheme: String? {
    guard let field, field.name == "Authorization" else { return nil }
    let word = field.value.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0x20 }, as: UTF8.self) }
    return ["Bearer", "DPoP"].contains(word) ? word : nil
  }

  /// How long ago the token was received.
  package func age(bootNanoseconds: Int64) -> Duration { .nanoseconds(bootNanoseconds - receivedBootNanoseconds) }
}

extension AccessToken: Equatable {
  /// The same token of the same issue; two issues with the same bytes are two tokens.
  package static func == (a: AccessToken, b: AccessToken) -> Bool { a === b }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
  package var description: String { "[access token \(generation)]" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
