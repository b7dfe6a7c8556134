package import Cryptography
package import HTTPWire

/// One call of an authorization server's endpoint: at most two sends, the second for a nonce. Pure, apart from each `jti`.
///
/// The one place where an authorization server's nonce challenge is answered, for every grant and every endpoint:
/// ```swift
/// var call = EndpointCall(request, proofKey: key)
/// repeat {
///   response = try await http.send(call.send(nonce: …, issuedAtUnixSeconds: …), timeout: …)
/// } while call.judge(response) == .sendAgain
/// ```
/// RFC 9449 §5, §8
package struct EndpointCall {
  package enum Verdict: Sendable, Equatable {
    case sendAgain
    case final
  }

  private let request: EndpointRequest
  private let proofKey: ProofKey?
  private var nonceSent: NonceValue?

  /// How many times the request was made so far.
  package private(set) var sendCount = 0
  /// The last answer gave a nonce that was not sent yet.
  package private(set) var newNonceWasOffered = false

  package static let sendsMax = 2

  /// - Parameter proofKey: the key tokens are to be bound to; nil for no proof.
  package init(_ request: EndpointRequest, proofKey: ProofKey?) {
    self.request = request
    self.proofKey = proofKey
  }

  /// Makes the request of the next send: everything that is good for one send only is made anew.
  ///
  /// - Parameters:
  ///   - nonce: the authorization server's last one, if it gave any.
  ///   - issuedAtUnixSeconds: the server's time as far as it is known.
  /// - Throws: ``OAuthError/proof(_:)``, ``OAuthError/assertion(_:)``
  package mutating func send(nonce: NonceValue?, issuedAtUnixSeconds: Int64) throws(OAuthError) -> HTTPRequest {
    precondition(sendCount < Self.sendsMax, "an endpoint call is two sends at most")
    sendCount += 1
    nonceSent = nonce
    var fields = [
      HTTPField(name: "Accept", value: "application/json"),
      HTTPField(name: "Content-Type", value: FormURLEncoded.contentType),
    ]
    var parameters = request.parameters
    request.authentication.authenticate(&fields, &parameters)
    let form = try parameters.map { parameter throws(OAuthError) in
      let text = try parameter.text(for: request.endpoint, issuedAtUnixSeconds: issuedAtUnixSeconds)
      return (parameter.name, text)
    }
    if let proofKey {
      let proof = try EndpointProof.make(
        key: proofKey, method: "POST", url: request.endpoint, nonce: nonce, issuedAtUnixSeconds: issuedAtUnixSeconds)
      fields.append(HTTPField(name: "DPoP", value: proof))
    }
    return HTTPRequest(
      method: "POST", url: request.endpoint, fields: fields, body: FormURLEncoded.encode(form))
  }

  /// Says whether an answer is to be answered with another send. The caller has fed the nonce cell before.
  ///
  /// Only for an explicit `use_dpop_nonce`, with status 400 or, as some servers have it, 401, and with exactly one
  /// `DPoP-Nonce` that differs from the nonce just sent.
  package mutating func judge(_ response: HTTPResponse) -> Verdict {
    let offered = Self.nonce(of: response)
    newNonceWasOffered = offered != nil && offered != nonceSent
    guard proofKey != nil, newNonceWasOffered, sendCount < Self.sendsMax, Self.demandsNonce(response) else {
      return .final
    }
    return .sendAgain
  }

  package static func demandsNonce(_ response: HTTPResponse) -> Bool {
    guard response.status == 400 || response.status == 401 else { return false }
    let json = try? JSONValue(parsing: response.body)  // what is not JSON demands nothing
    return json?["error"]?.stringValue == "use_dpop_nonce"
  }

  /// The nonce of an answer; nil if there is none, or more than one field. RFC 9449 §8.1
  package static func nonce(of response: HTTPResponse) -> NonceValue? {
    response.onlyValue(of: "DPoP-Nonce").flatMap { NonceValue($0) }
  }
}
