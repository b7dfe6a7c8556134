import OAuth

/// A profile of the configuration whose grants live in the store.
package struct LoginProfile: Sendable {
  /// How its first grant comes about.
  package enum Origin: Sendable {
    /// A person logs in. RFC 6749 §4.1
    case authorizationCode
    /// RFC 8628
    case deviceCode
    /// RFC 6749 §4.3
    case password(username: String, password: SecretOrigin)
  }

  /// How one grant serves targets other than its own.
  package enum Targets: Sendable {
    /// The refresh request names them.
    case refresh
    /// The grant's own access token is exchanged. RFC 8693
    case tokenExchange
  }

  package let registration: ClientRegistration
  package let origin: Origin
  /// What a refresh asks for if a route asks for nothing else.
  package let target: TokenTargetKey
  package let targets: Targets

  package init(registration: ClientRegistration, origin: Origin, target: TokenTargetKey, targets: Targets) {
    self.registration = registration
    self.origin = origin
    self.target = target
    self.targets = targets
  }

  package var name: String { registration.name }

  var kind: TokenSourceKind {
    switch origin {
    case .authorizationCode: .authorizationCode
    case .deviceCode: .deviceCode
    case .password: .password
    }
  }
}
