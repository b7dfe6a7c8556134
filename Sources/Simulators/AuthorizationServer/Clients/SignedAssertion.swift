import Cryptography
import HTTPWire

/// A JSON Web Token by which a client proves itself or a person's consent, read and not yet verified. RFC 7523 §3
struct SignedAssertion {
  let claims: JSONValue
  private let form: Form

  private enum Form {
    case publicKey(JSONWebSignature)
    /// RFC 7518 §3.2
    case hmac(signingInput: [UInt8], code: Secret)
  }

  /// What `token_endpoint_auth_signing_alg_values_supported` says. RFC 8414 §2
  static let algorithms = JWSAlgorithm.allCases.map(\.rawValue) + ["HS256"]

  /// - Throws: ``Defect`` unless it is a compact JWS of a known algorithm whose payload is a JSON object.
  init(compact: String) throws(Defect) {
    let segments = compact.split(separator: ".", omittingEmptySubsequences: false)
    guard segments.count == 3, let header = Self.object(segments[0]), let claims = Self.object(segments[1]) else {
      throw Defect("the assertion is not a signed JWT")
    }
    self.claims = claims
    if header["alg"]?.stringValue == "HS256" {
      guard header["crit"] == nil, let code = Base64URL.decode(segments[2]) else {
        throw Defect("the assertion's signature can't be read")
      }
      form = .hmac(signingInput: Array("\(segments[0]).\(segments[1])".utf8), code: Secret(code))
    } else {
      do { form = .publicKey(try JSONWebSignature(compact: compact)) } catch { throw Defect("the assertion: \(error)") }
    }
  }

  var isSymmetric: Bool {
    if case .hmac = form { true } else { false }
  }

  func isSigned(byOneOf keys: [JWK]) -> Bool {
    guard case .publicKey(let signature) = form else { return false }
    return keys.contains { key in
      do { try signature.verify(with: key, algorithms: Set(JWSAlgorithm.allCases)) } catch { return false }
      return true
    }
  }

  func isSigned(with secret: String) -> Bool {
    guard case .hmac(let input, let code) = form else { return false }
    return Secret(input.withUnsafeBytes { HMACSHA256.authenticate($0, key: Secret(utf8: secret)) }) == code
  }

  subscript(_ name: String) -> String? { claims[name]?.stringValue }

  /// `aud`, which may be one or a list. RFC 7519 §4.1.3
  var audiences: [String] { claims["aud"]?.stringArrayValue ?? self["aud"].map { [$0] } ?? [] }

  private static func object(_ segment: Substring) -> JSONValue? {
    guard let value = Base64URL.decode(segment).flatMap({ JSONValue(strictly: $0) }) else { return nil }
    return value.objectValue == nil ? nil : value
  }

  /// What is wrong with an assertion, without a value of it.
  struct Defect: Error, Equatable {
    var detail: String
    init(_ detail: String) { self.detail = detail }
  }
}
