import Cryptography
import HTTPWire

@testable import Simulators

/// A DPoP client that does exactly what it is told: no cache, no retry.
final class TestClient {
  let simulation: Simulation
  let key = ProofKey.generate()
  let id: String
  let secret: String

  init(_ simulation: Simulation, id: String = "svc", secret: String = "service-secret") {
    self.simulation = simulation
    self.id = id
    self.secret = secret
  }

  /// The simulation's clock; tests move it by offsets given here.
  static var now: Int64 { SystemClock.unixSeconds }

  func proof(
    _ method: String, _ url: String, token: String? = nil, nonce: String? = nil, at issuedAt: Int64 = TestClient.now
  ) throws -> String {
    let signer = ProofSigner(key: key)
    let (htm, htu, nonce) = (Array(method.utf8), Array(url.utf8), Array((nonce ?? "").utf8))
    let ath = Array((token.map { Base64URL.encode(SHA256.hash(Array($0.utf8))) } ?? "").utf8)
    let room = ProofSigner.proofBytesMax(htmBytes: htm.count, htuBytes: htu.count, nonceBytes: nonce.count)
    var output = [UInt8](repeating: 0, count: room)
    let count = try htm.withUnsafeBytes { htm in
      try htu.withUnsafeBytes { htu in
        try ath.withUnsafeBytes { ath in
          try nonce.withUnsafeBytes { nonce in
            try output.withUnsafeMutableBytes { output in
              try signer.sign(htm: htm, htu: htu, ath: ath, nonce: nonce, issuedAtUnixSeconds: issuedAt, into: output)
            }
          }
        }
      }
    }
    return String(decoding: output.prefix(count), as: UTF8.self)
  }

  /// Asks for a token; extra fields and parameters as given.
  func requestToken(
    nonce: String? = nil, form: [(String, String)] = [("grant_type", "client_credentials")], proof: String? = nil,
    sendsProof: Bool = true, authorization: String? = nil, at issuedAt: Int64 = TestClient.now
  ) throws -> TestConnection.Response {
    let server = simulation.authorizationServer
    var fields = ["Authorization: " + (authorization ?? basic(id, secret))]
    if sendsProof {
      let proof = try proof ?? self.proof("POST", "\(server.url)/token", nonce: nonce, at: issuedAt)
      fields.append("DPoP: \(proof)")
    }
    fields.append("Content-Type: application/x-www-form-urlencoded")
    return try send(server, "POST", "/token", fields, body: FormURLEncoded.encode(form))
  }

  /// A token, following one challenge.
  func token(form: [(String, String)] = [("grant_type", "client_credentials")]) throws -> String {
    var response = try requestToken(form: form)
    if let nonce = response.values("dpop-nonce").first, response.status == 400 {
      response = try requestToken(nonce: nonce, form: form)
    }
    guard let token = try JSONValue(parsing: response.body)["access_token"]?.stringValue else {
      throw TestConnection.Failure.malformed
    }
    return token
  }

  /// A request to the API.
  func call(
    _ method: String = "GET", _ target: String = "/echo", token: String, nonce: String? = nil, body: [UInt8]? = nil,
    fields: [String] = [], on connection: TestConnection? = nil, at issuedAt: Int64 = TestClient.now
  ) throws -> TestConnection.Response {
    let path = String(target.prefix { $0 != "?" })
    let proof = try proof(method, simulation.api.url + path, token: token, nonce: nonce, at: issuedAt)
    let fields = ["Authorization: DPoP \(token)", "DPoP: \(proof)"] + fields
    return try send(simulation.api, method, target, fields, body: body, on: connection)
  }

  func send(
    _ server: SimulatedServer, _ method: String, _ target: String, _ fields: [String] = [], body: [UInt8]? = nil,
    on connection: TestConnection? = nil
  ) throws -> TestConnection.Response {
    let connection = try connection ?? TestConnection(port: server.port)
    try connection.write(Self.head(server, method, target, fields, bodyBytes: body?.count))
    if let body { try connection.write(body) }
    return try connection.read(method: method)
  }

  static func head(
    _ server: SimulatedServer, _ method: String, _ target: String, _ fields: [String], bodyBytes: Int? = nil
  ) -> String {
    let length = bodyBytes.map { ["Content-Length: \($0)"] } ?? []
    let lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(server.port)"] + fields + length
    return lines.joined(separator: "\r\n") + "\r\n\r\n"
  }

  func basic(_ id: String, _ secret: String) -> String { "Basic " + Base64.encode("\(id):\(secret)".utf8) }
}

extension TestConnection.Response {
  var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }  // null fails whatever is then expected of it
  var nonce: String? { values("dpop-nonce").first }
  var challenges: [Challenge] { Challenge.parse(values("www-authenticate")) }
}
