import Cryptography
import EventLoop
import HTTPWire
import OAuth

extension MachineGrant {
  /// What fetches tokens by this grant.
  func fetcher(client: OAuthClient, target: TokenTargetKey) -> GrantFetcher {
    switch self {
    case .clientCredentials:
      return GrantFetcher(client: client, kind: kind, target: target, otherWarnings: { [] }) { _ in
        ClientCredentialsGrant(target: target.grantTarget)
      }
    case .jwtBearer(.given(let origin)):
      let assertion = HeldSecretReader(origin, environment: client.environment)
      return GrantFetcher(client: client, kind: kind, target: target, otherWarnings: { assertion.warnings }) {
        (_) async throws(FetchFailure) in
        JWTBearerGrant(assertion: .given(try await assertion.read(anew: true)), target: target.grantTarget)
      }
    case .jwtBearer(.signed(let template, let key)):
      let reader = HeldSecretReader(key, environment: client.environment)
      return GrantFetcher(client: client, kind: kind, target: target, otherWarnings: { reader.warnings }) {
        (_) async throws(FetchFailure) in
        JWTBearerGrant(
          assertion: .signed(try template.assertion(signedWith: try await reader.read(), from: reader)),
          target: target.grantTarget)
      }
    case .tokenExchange(let exchange):
      return exchange.fetcher(client: client, target: target)
    }
  }
}

extension MachineGrant.AssertionTemplate {
  fileprivate func assertion(
    signedWith key: Secret, from reader: HeldSecretReader
  ) throws(FetchFailure) -> JWTAssertion {
    let signer = try reader.signer { () throws(CryptographyError) in
      try JWSSigner(key: SigningKey(parsing: key), algorithm: algorithm, keyID: keyID)
    }
    do throws(JWTAssertion.Violation) {
      return try JWTAssertion(
        issuer: issuer, subject: subject, audience: audience, lifetimeSeconds: lifetime.components.seconds,
        claims: claims.map { ($0.name, .string($0.value)) }, signer: signer)
    } catch {
      preconditionFailure("the configuration was read with an assertion that can't be: \(error)")
    }
  }
}

extension MachineGrant.Exchange {
  fileprivate func fetcher(client: OAuthClient, target: TokenTargetKey) -> GrantFetcher {
    let subjectReader: HeldSecretReader? =
      if case .given(let origin) = subject { HeldSecretReader(origin, environment: client.environment) } else { nil }
    let source: TokenSource? = if case .token(let source) = subject { source } else { nil }
    let actorReader = actor.map { HeldSecretReader($0.origin, environment: client.environment) }
    return GrantFetcher(
      client: client, kind: .tokenExchange, target: target,
      otherWarnings: { (subjectReader?.warnings ?? []) + (actorReader?.warnings ?? []) }, subject: source
    ) { (token) async throws(FetchFailure) in
      let subjectToken: Secret
      if let token {
        subjectToken = token.secret
      } else {
        guard let subjectReader else { preconditionFailure("a subject token that no credential brings is read") }
        subjectToken = try await subjectReader.read(anew: true)
      }
      var actorToken: TokenExchangeGrant.TypedToken?
      if let actor, let actorReader { actorToken = .init(try await actorReader.read(anew: true), type: actor.type) }
      return TokenExchangeGrant(
        subject: .init(subjectToken, type: subjectType), actor: actorToken, requestedTokenType: requestedType,
        target: target.grantTarget)
    }
  }
}
