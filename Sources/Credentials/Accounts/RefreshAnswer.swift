import Cryptography
import OAuth

/// What a token endpoint gave for a grant: judged in two halves, because the refresh token of an answer whose access
/// token is of no use may be the only one that is left.
struct RefreshAnswer: Sendable {
  /// nil: the one that was sent stays valid. RFC 6749 §6
  let refreshToken: Secret?
  let token: Result<TokenResponse, FetchFailure>

  /// - Throws: if the server gave nothing; `FetchFailure.effect` says what became of the grant.
  init(
    judging answer: AuthorizationServerCaller.Answer, of grant: some TokenGrant, target: TokenTargetKey,
    binding: TokenBinding, secrets: [Secret]
  ) throws(FetchFailure) {
    refreshToken = TokenResponse.refreshToken(of: answer.response)
    do throws(OAuthError) {
      let response = try grant.judge(answer.response, binding: binding)
      token = Self.checked(response, target)
    } catch {
      let failure = FetchFailure(error, answer: answer, secrets: secrets)
      guard refreshToken != nil else { throw failure }
      token = .failure(failure)
    }
  }

  /// There are servers that pass over an audience they don't know and give a token for another one.
  private static func checked(
    _ response: TokenResponse, _ target: TokenTargetKey
  ) -> Result<TokenResponse, FetchFailure> {
    guard let audience = target.audience, response.names(audience: audience, resources: target.resources) == false
    else {
      return .success(response)
    }
    return .failure(
      FetchFailure(
        kind: .refused, code: "audience_mismatch", detail: "the access token that came is for another audience",
        next: "Allow the client this audience at the issuer, or correct audience"))
  }
}
