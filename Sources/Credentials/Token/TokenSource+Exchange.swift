import Cryptography

extension TokenSource {
  /// Exchanges this source's token. A server that refuses it is asked once more with another one: it may have been revoked
  /// since. RFC 8693 §2.2.2
  func exchanged(
    _ exchange: (AccessToken) async throws(FetchFailure) -> FetchedToken
  ) async throws(FetchFailure) -> FetchedToken {
    let subject = try await fetchedToken()
    let failure: FetchFailure
    do throws(FetchFailure) { return try await exchange(subject) } catch { failure = error }
    guard failure.mayRefuseSubject, refused(subject, afterRefresh: false),
      let next = try? await token(replacing: subject)  // if there is none, the first refusal stands
    else { throw failure }
    do throws(FetchFailure) {
      return try await exchange(next)
    } catch {
      if error.mayRefuseSubject { _ = refused(next, afterRefresh: true) }
      throw error
    }
  }

  /// As ``token()``, for a fetch that stands on it.
  private func fetchedToken() async throws(FetchFailure) -> AccessToken {
    do throws(TokenFailure) {
      return try await token()
    } catch {
      switch error {
      case .unavailable(let detail, let seconds):
        throw FetchFailure(
          kind: .unavailable, code: "subject_unavailable", detail: detail, retryAfter: .seconds(seconds))
      case .refused(let detail): throw FetchFailure(kind: .refused, code: "subject_refused", detail: detail)
      case .loginRequired(let detail): throw .person(.loginRequired, detail, next: "Log in to \(name)")
      case .locked(let detail): throw .person(.locked, detail, next: "Run proofd unlock")
      }
    }
  }
}

extension FetchFailure {
  /// The server may mean the subject token: the first code is RFC 8693's, the others are what some servers say.
  fileprivate var mayRefuseSubject: Bool {
    kind == .refused && ["invalid_request", "invalid_grant", "invalid_token"].contains(code)
  }
}
