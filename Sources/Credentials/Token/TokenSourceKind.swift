/// Where the value of a credential comes from.
package enum TokenSourceKind: String, Sendable {
  case environment, file, command, literal
  case clientCredentials = "client_credentials"
  case jwtBearer = "jwt_bearer"
  case tokenExchange = "token_exchange"
  case authorizationCode = "authorization_code"
  case deviceCode = "device_code"
  case password
}

extension TokenSourceKind {
  /// A token endpoint makes a new token of the same bytes; a file that did not change holds the same token.
  var isIssued: Bool {
    switch self {
    case .environment, .file, .command, .literal: false
    case .clientCredentials, .jwtBearer, .tokenExchange, .authorizationCode, .deviceCode, .password: true
    }
  }
  /// Whether fetching again may bring another value.
  var canChange: Bool { self != .environment && self != .literal }
}
