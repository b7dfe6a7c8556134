import Cryptography
import HTTPWire
import Locking

/// An authorization server in a closure. It keeps what it was asked.
final class ScriptedServer: HTTPSending {
  typealias Answer = Result<HTTPResponse, HTTPSendFailure>
  private let requests = Protected<[HTTPRequest]>([])
  /// Gets a request to the token endpoint and its number, which starts at 1.
  private let token: @Sendable (HTTPRequest, Int) -> Answer
  private let metadata: @Sendable (HTTPRequest) -> Answer

  init(
    metadata: @escaping @Sendable (HTTPRequest) -> Answer = { _ in .success(HTTPResponse(200, ScriptedServer.document))
    },
    token: @escaping @Sendable (HTTPRequest, Int) -> Answer
  ) {
    self.metadata = metadata
    self.token = token
  }

  static let issuer = "https://id.example.com"
  static let document = #"{"issuer":"https://id.example.com","token_endpoint":"https://id.example.com/token?x=1"}"#

  func send(_ request: HTTPRequest, timeout: Duration) async throws(HTTPSendFailure) -> HTTPResponse {
    let number = requests.withLock { requests in
      requests.append(request)
      return requests.count { $0.method == "POST" }
    }
    return try (request.method == "GET" ? metadata(request) : token(request, number)).get()
  }

  var all: [HTTPRequest] { requests.withLock { $0 } }
  var tokenRequests: [HTTPRequest] { all.filter { $0.method == "POST" } }
}

extension HTTPResponse {
  init(_ status: Int, _ body: String, _ fields: [(String, String)] = []) {
    self.init(status: status, fields: fields.map { HTTPField(name: $0.0, value: $0.1) }, body: Array(body.utf8))
  }

  /// A token that lives an hour.
  static func token(
    _ value: String, type: String = "DPoP", expiresIn: String = "3600", _ fields: [(String, String)] = []
  ) -> HTTPResponse {
    HTTPResponse(200, #"{"access_token":"\#(value)","token_type":"\#(type)","expires_in":\#(expiresIn)}"#, fields)
  }

  static func nonceChallenge(_ nonces: String..., status: Int = 400) -> HTTPResponse {
    HTTPResponse(status, #"{"error":"use_dpop_nonce"}"#, nonces.map { ("DPoP-Nonce", $0) })
  }
}

extension HTTPRequest {
  func field(_ name: String) -> String? {
    fields.first { ASCII.equalCaseInsensitively($0.name, name) }?.value
  }

  /// The claims of its proof, whose signature is checked.
  func proof() throws -> (claims: JSONValue, jkt: String)? {
    guard let compact = field("DPoP") else { return nil }
    let signature = try JSONWebSignature(compact: compact)
    guard let key = signature.embeddedKey else { return nil }
    try signature.verify(with: key, algorithms: [.es256])
    return (try JSONValue(parsing: signature.payload), key.thumbprint)
  }

  func formValue(_ name: String) -> String? {
    (body.flatMap { FormURLEncoded.decode($0) } ?? []).first { $0.0 == name }?.1
  }
}
