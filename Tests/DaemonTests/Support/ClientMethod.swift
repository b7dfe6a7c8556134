import Cryptography
import EventLoop
import HTTPWire

@testable import Simulators

/// How a client shows who it is, on both sides: in the configuration and at the simulator. RFC 6749 §2.3, RFC 7523 §2.2
enum ClientMethod: String, CaseIterable, Sendable {
  case none, basic, post
  case secretJWT = "client_secret_jwt"
  case es256, rs256, ps256, edDSA

  static let secret = "a-secret-of-thirty-two-characters"

  /// The keys of the credential. A private key lies in `$DIR/client.key`.
  var keys: String {
    switch self {
    case .none: "client_auth: none"
    case .basic, .post, .secretJWT: "client_auth: \(rawValue), client_secret: \(Self.secret)"
    case .es256: "private_key: {file: $DIR/client.key}, key_id: key-1"
    case .rs256: "client_auth: private_key_jwt, private_key: {file: $DIR/client.key}"
    case .ps256: "private_key: {file: $DIR/client.key}, signing_algorithm: PS256"
    case .edDSA: "private_key: {file: $DIR/client.key}"
    }
  }

  /// nil: it has none.
  var privateKey: String? {
    switch self {
    case .none, .basic, .post, .secretJWT: nil
    case .es256: SigningKeys.ec
    case .rs256, .ps256: SigningKeys.rsa
    case .edDSA: SigningKeys.ed25519
    }
  }

  /// What the server knows the client by.
  func client(_ id: String) throws -> SimulatedClient {
    switch self {
    case .none: return SimulatedClient(id: id)
    case .basic: return SimulatedClient(id: id, secret: Self.secret, authentication: [.basic])
    case .post: return SimulatedClient(id: id, secret: Self.secret, authentication: [.post])
    case .secretJWT: return SimulatedClient(id: id, secret: Self.secret, authentication: [.secretJWT])
    case .es256, .rs256, .ps256, .edDSA:
      return SimulatedClient(id: id, keys: [try SigningKeys.publicKey(privateKey ?? "")])
    }
  }

  /// The `alg` of its assertions; nil if it sends none.
  var algorithm: String? {
    switch self {
    case .none, .basic, .post: nil
    case .secretJWT: "HS256"
    case .es256: "ES256"
    case .rs256: "RS256"
    case .ps256: "PS256"
    case .edDSA: "EdDSA"
    }
  }
}

/// Private keys printed in RFCs, as JWKs.
enum SigningKeys {
  /// RFC 7515 A.3.1
  static let ec = #"""
    {"kty":"EC","crv":"P-256","kid":"ec-1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
     "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}
    """#

  /// RFC 7515 A.2.1
  static let rsa = """
    {"kty":"RSA",
     "n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd\
    2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa\
    2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDT\
    W9gb54h4FRWyuXpoQ",
     "e":"AQAB",
     "d":"Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395I\
    W_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQ\
    lBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0Q\
    U91p1DhOVRuOopznQ",
     "p":"4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7o\
    uZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
     "q":"uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDm\
    pe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
     "dp":"BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12S\
    k3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
     "dq":"h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd\
    2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
     "qi":"IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLE\
    dfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U"}
    """

  /// RFC 8037 A.1
  static let ed25519 = #"""
    {"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
     "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    """#

  static func publicKey(_ text: String) throws -> JWK { try SigningKey(parsing: Secret(utf8: text)).publicJWK }

  /// A JWT with these claims, good for an hour.
  static func sign(_ claims: [(String, String)], with text: String = ec) throws -> String {
    let now = SystemTime().wallNanoseconds / 1_000_000_000
    let members =
      claims.map { ($0.0, JSONValue.string($0.1)) } + [("iat", .integer(now)), ("exp", .integer(now + 3_000))]
    return try JSONWebSignature.sign(
      payload: JSONValue.object(members).serialised(), type: "JWT",
      signer: try JWSSigner(key: SigningKey(parsing: Secret(utf8: text)), algorithm: nil, keyID: nil))
  }
}
