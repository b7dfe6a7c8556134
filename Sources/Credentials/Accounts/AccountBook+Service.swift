package import Cryptography
import EventLoop
import HTTPWire
import OAuth

extension AccountBook: AccountService {
  package func accounts() async throws(AccountFailure) -> [AccountStatus] {
    await look()
    if let failure = state.withLock({ $0.storeFailure }) { throw AccountFailure(failure) }
    return statuses()
  }

  package func account(_ name: AccountName) async throws(AccountFailure) -> AccountStatus {
    await look()
    if name.account == nil, let other = statuses().first(where: { $0.name == name && $0.grant == nil }),
      profile(name.profile) == nil
    {
      return other
    }
    return status(try await record(name))
  }

  package func makeDefault(_ name: AccountName) async throws(AccountFailure) -> AccountStatus {
    let record = try await record(name)
    try await storing { (store) throws(StoreError) in try store.makeDefault(record.id) }
    await look()
    return status(try await self.record(record.name))
  }

  package func tag(
    _ name: AccountName, adding: [String], removing: [String]
  ) async throws(AccountFailure) -> AccountStatus {
    for tag in adding where !Self.isTag(tag) { throw .tagInvalid }
    let record = try await record(name)
    try await storing { (store) throws(StoreError) in
      guard var current = try store.records().first(where: { $0.id == record.id }) else { throw .conflict }
      let kept = current.tags.filter { !removing.contains($0) }
      current.tags = Array((kept + adding.filter { !kept.contains($0) }).prefix(Self.tagsMax))
      _ = try store.update(current, endingIntent: false)
    }
    await look()
    return status(try await self.record(record.name))
  }

  package func remove(_ name: AccountName) async throws(AccountFailure) {
    let record = try await record(name)
    try await storing { (store) throws(StoreError) in _ = try store.remove(record.id) }
    await look()
  }

  package func identity(_ name: AccountName) async throws(AccountFailure) -> AccountIdentity {
    let record = try await record(name)
    let grant = try await whileOpen { () throws(AccountFailure) in
      try await self.storing { (store) throws(StoreError) in try store.grant(record.id) }
    }
    if let grant { try? world.held.hold(grant) }  // it is not shown, whatever it is
    guard let token = grant?.secrets.idToken, let claims = try? IDTokenClaims(parsing: token) else {
      throw AccountFailure(
        .notFound, code: "identity_unknown", detail: "\(record.name) has no ID token",
        next: "Ask for the scope openid when the grant is made.")
    }
    return AccountIdentity(claims)
  }

  package func unlock(passphrase: Secret) async throws(AccountFailure) {
    // One try at a time: each costs memory and time, and counts before the next begins.
    await passphrases.enter()
    defer { passphrases.leave() }
    let pause = world.unlocking.pauseSeconds
    guard pause == 0 else {
      throw AccountFailure(
        .locked, code: "unlock_delayed", detail: "too many wrong passphrases", next: "Try again in \(pause) s.")
    }
    do throws(StoreError) {
      try await world.store.unlock(passphrase: passphrase)
    } catch {
      if error == .passphraseWrong { world.unlocking.passphraseWasWrong() }
      throw AccountFailure(error)
    }
    world.unlocking.unlocked()
    await look()
  }

  package func lock() async throws(AccountFailure) {
    guard usesPassphrase else { throw AccountFailure(StoreError.passphraseNotUsed) }
    do throws(StoreError) {
      try await world.lock()
    } catch {
      throw AccountFailure(error)
    }
    await look()
  }

  package func lockStatus() async -> LockStatus? {
    guard usesPassphrase else { return nil }
    if world.unlocking.isOver { try? await world.lock() }  // then it says that it is not locked
    return LockStatus(
      isLocked: await world.store.isLocked, locksInSeconds: world.unlocking.secondsLeft)
  }

  /// The record a name means now.
  func record(_ name: AccountName) async throws(AccountFailure) -> GrantRecord {
    let found = try await storing { (store) throws(StoreError) in try store.records() }
    if let record = found.first(where: { $0.isMeant(by: name) }) { return record }
    let failure: FetchFailure =
      name.account == nil && found.contains { $0.profile == name.profile } ? .noDefault(name) : .noAccount(name)
    guard profile(name.profile) != nil || found.contains(where: { $0.profile == name.profile }) else {
      throw AccountFailure(
        .notFound, code: "profile_unknown", detail: "there is no account or profile \(name)",
        next: "See proofd credentials list.")
    }
    throw AccountFailure(.notFound, code: "account_unknown", detail: failure.detail, next: "\(failure.next ?? "").")
  }

  /// Runs `body` on the store, with failures for the user.
  func storing<R: Sendable>(
    _ body: @escaping @Sendable (any CredentialStore) throws(StoreError) -> R
  ) async throws(AccountFailure) -> R {
    do throws(StoreError) {
      return try await world.store.run(body)
    } catch {
      throw AccountFailure(error)
    }
  }

  /// Runs an operation that was asked for by hand, with the store open. With the policy `always` an unlocked store serves
  /// one of them, however it ends.
  ///
  /// - Throws: ``StoreError/locked`` as a failure, or what `body` throws.
  func whileOpen<R: Sendable>(
    _ body: () async throws(AccountFailure) -> R
  ) async throws(AccountFailure) -> R {
    world.unlocking.operationBegins()
    if world.unlocking.isOver { try? await world.lock() }  // one that takes no passphrase stays open
    let result: Result<R, AccountFailure>
    if await world.store.isLocked {
      result = .failure(AccountFailure(StoreError.locked))
    } else {
      do throws(AccountFailure) {
        result = .success(try await body())
      } catch {
        result = .failure(error)
      }
    }
    if world.unlocking.operationEnds() {
      try? await world.lock()  // somebody else locked it
      await look()
    }
    return try result.get()
  }

  static let tagsMax = 32

  static func isTag(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 64
      && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-_.:@".utf8.contains($0) }
  }
}

extension AccountIdentity {
  init(_ claims: IDTokenClaims) {
    self.init()
    issuer = claims.issuer
    subject = claims.subject
    name = claims.name
    preferredUsername = claims.preferredUsername
    email = claims.email
    picture = claims.picture
  }
}

extension AccountFailure {
  init(_ error: StoreError) {
    let kind: Kind =
      switch error {
      case .locked, .passphraseWrong: .locked
      case .passphraseNotUsed: .invalid
      case .conflict, .nameTaken: .conflict
      default: .storage
      }
    self.init(kind, code: error.code, detail: error.detail, next: error.next)
  }

  init(_ failure: TokenFailure, status: TokenSourceStatus) {
    let code = status.lastFailure?.code
    switch failure {
    case .unavailable(let detail, _):
      self.init(.unavailable, code: code ?? "token_unavailable", detail: detail, next: status.next)
    case .refused(let detail): self.init(.refused, code: code ?? "token_refused", detail: detail, next: status.next)
    case .loginRequired(let detail):
      self.init(.loginRequired, code: code ?? "login_required", detail: detail, next: status.next)
    case .locked(let detail): self.init(.locked, code: "locked", detail: detail, next: "Run proofd unlock.")
    }
  }
}
