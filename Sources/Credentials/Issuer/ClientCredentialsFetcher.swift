import Cryptography
import HTTPWire
import OAuth

/// Where tokens are asked for, and what the server says of itself, if it was asked.
struct TokenEndpoint: Sendable {
  let url: HTTPURL
  let metadata: AuthorizationServerMetadata?
}

/// Fetches tokens for the client itself. RFC 6749 §4.4
struct ClientCredentialsFetcher: TokenFetching {
  let client: OAuthClient
  let grant: ClientCredentialsGrant

  var kind: TokenSourceKind { .clientCredentials }
  var warnings: [String] { client.warnings }

  func failure(_ refusal: UnmaskableSecret) -> FetchFailure {
    FetchFailure(
      kind: .refused, code: refusal.code, detail: "the access token that the issuer gave: \(refusal.detail)",
      next: "Let the issuer give tokens that are harder to guess", isOfSetUp: true)
  }

  func fetch() async throws(FetchFailure) -> FetchedToken {
    let endpoint = try await client.tokenEndpoint()
    if client.binding.proofKey != nil {
      do throws(OAuthError) {
        try endpoint.metadata?.checkProofAlgorithm()
      } catch {
        client.forgetMetadata()  // so that a server that was put right is asked again
        throw FetchFailure(error)
      }
    }
    let authentication = try await client.authentication()
    let request = grant.request(endpoint: endpoint.url, authentication: authentication)
    return try await client.caller.call(request, binding: client.binding) { answer throws(FetchFailure) in
      do throws(OAuthError) {
        return fetched(try grant.judge(answer.response, binding: client.binding))
      } catch {
        if answer.response.status == 404 { client.forgetMetadata() }
        throw FetchFailure(error, answer: answer, secret: authentication.secret)
      }
    }
  }

  private func fetched(_ response: TokenResponse) -> FetchedToken {
    let scheme = response.tokenType.scheme ?? "Bearer"  // judged already: there is no other with us
    let value = Secret(utf8: "\(scheme) \(response.accessToken.revealedString())")
    return FetchedToken(
      secret: response.accessToken, placement: .field(name: "Authorization", value: value),
      proofKey: response.tokenType == .dpop ? client.binding.proofKey : nil,
      lifetime: .issued(expiresInSeconds: response.expiresInSeconds), expiresInSeconds: response.expiresInSeconds)
  }
}
