import Cryptography
import OAuth

extension FetchFailure {
  /// The store can't give or take what a fetch needs.
  init(_ error: StoreError) {
    let kind: Kind
    switch error {
    case .diskFull, .readOnly, .busy, .unusable, .conflict: kind = .unavailable
    case .locked: kind = .person(.locked)
    default: kind = .person(.storeFailed)
    }
    self.init(kind: kind, code: error.code, detail: error.detail)
    if error != .conflict { next = String(error.next.dropLast()) }  // that is tried again by itself
    pause = .seconds(1)  // it costs a look at the disk, and what was put right serves at once
    isOfSetUp = error != .locked
  }

  /// Somebody has to log in, for this reason.
  static func person(_ state: AccountStatus.State, _ detail: String, next: String) -> FetchFailure {
    FetchFailure(kind: .person(state), code: state.rawValue, detail: detail, next: next)
  }

  static func conflict(_ name: AccountName) -> FetchFailure {
    FetchFailure(kind: .unavailable, code: "conflict", detail: "the account \(name) was changed at the same time")
  }

  static func noAccount(_ name: AccountName) -> FetchFailure {
    .person(
      .loginRequired, "there is no account \(name)", next: "Give it a grant with proofd credentials import \(name)")
  }

  static func noDefault(_ name: AccountName) -> FetchFailure {
    .person(
      .loginRequired, "\(name) has accounts and none of them is its default",
      next: "Choose one with proofd credentials default \(name)/ACCOUNT")
  }

  static func refused(_ name: AccountName) -> FetchFailure {
    .person(
      .loginRequired, "the authorization server does not take the refresh token any more",
      next: "Give the account a new grant with proofd credentials import \(name) --replace")
  }

  static func rotationInterrupted(_ name: AccountName) -> FetchFailure {
    .person(
      .rotationInterrupted,
      "a refresh was interrupted before its answer could be stored, and the server does not take the old refresh token again",
      next: "Give the account a new grant with proofd credentials import \(name) --replace")
  }

  static func sessionExpired(_ name: AccountName) -> FetchFailure {
    .person(
      .sessionExpired, "the session that was logged in to is over",
      next: "Give the account a new grant with proofd credentials import \(name) --replace")
  }
}
