import Cryptography

/// The store, off the threads of Swift concurrency. Any task.
struct SharedStore: Sendable {
  private let store: any CredentialStore
  private let queue = WorkQueue(name: "store")

  init(_ store: any CredentialStore) { self.store = store }

  func run<R: Sendable>(
    _ body: @escaping @Sendable (any CredentialStore) throws(StoreError) -> R
  ) async throws(StoreError) -> R {
    let store = store
    return try await queue.run { Result { () throws(StoreError) in try body(store) } }.get()
  }

  /// Deriving a key takes its time, and nobody else has to wait for it.
  func unlock(passphrase: Secret) async throws(StoreError) {
    let store = store
    try await BlockingWork.run(named: "unlock") {
      Result { () throws(StoreError) in try store.unlock(passphrase: passphrase) }
    }.get()
  }

  /// As ``run(_:)``, with failures as a fetch has them.
  func failing<R: Sendable>(
    _ body: @escaping @Sendable (any CredentialStore) throws(StoreError) -> R
  ) async throws(FetchFailure) -> R {
    do throws(StoreError) {
      return try await run(body)
    } catch {
      throw FetchFailure(error)
    }
  }

  /// Whether sealed fields can be opened now; may wait for whoever uses the store.
  var isLocked: Bool { get async { await queue.run { [store] in store.lockState == .locked } } }
}

extension GrantRecord {
  func isMeant(by name: AccountName) -> Bool {
    profile == name.profile && (name.account.map { $0 == account } ?? isDefault)
  }
}
