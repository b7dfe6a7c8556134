package import HTTPWire

/// What is known of one request that reached a simulator.
package struct JournalEntry: Sendable {
  package let role: Role
  /// Counted from 1 over both servers, in order of arrival.
  package let sequence: Int
  /// Counted from 1 for each server.
  package let connection: Int
  /// When the head was complete, on the true clock. Milliseconds since 1970.
  package let receivedAtUnixMilliseconds: Int64
  /// Empty, as the next three, if the head could not be read.
  package let method: String
  package let target: String
  package let fields: [HTTPField]

  /// nil until the body is read to its end.
  package internal(set) var body: ReceivedBody?
  /// nil if there is none that could be read.
  package internal(set) var proof: DPoPProof?
  /// What a request to the token endpoint asked for; nil for any other, and for one by nobody.
  package internal(set) var tokenRequest: TokenRequestRecord?
  /// nil until the request is judged.
  package internal(set) var verdict: Verdict?
  package internal(set) var detail = ""
  /// What was answered; nil while nothing is, and for ever if a fault swallowed the answer.
  package internal(set) var status: Int?
  /// The names of the faults that were applied.
  package internal(set) var faults: [String] = []
  /// Whether all that will ever be known is known.
  package internal(set) var isFinished = false

  package var path: String { String(target.prefix { $0 != "?" }) }

  /// The values of all fields of that name, whatever their case.
  package func values(of name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// The parameters of a form, if the body is one and was kept whole.
  package var form: [(String, String)] {
    guard let body, body.isComplete else { return [] }
    return FormURLEncoded.decode(body.kept) ?? []
  }
}
