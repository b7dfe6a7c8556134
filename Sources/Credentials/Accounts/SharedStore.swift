/// The store, off the threads of Swift concurrency. Any task.
struct SharedStore: Sendable {
  let store: any CredentialStore

  func run<R: Sendable>(
    _ body: @escaping @Sendable (any CredentialStore) throws(StoreError) -> R
  ) async throws(StoreError) -> R {
    let store = store
    return try await BlockingWork.run(named: "store") {
      Result { () throws(StoreError) in try body(store) }
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
  var isLocked: Bool { get async { await BlockingWork.run(named: "store") { [store] in store.lockState == .locked } } }
}

extension GrantRecord {
  func isMeant(by name: AccountName) -> Bool {
    profile == name.profile && (name.account.map { $0 == account } ?? isDefault)
  }
}
