import Cryptography
import EventLoop
import Glibc

/// What all accounts of one store share.
struct AccountWorld: Sendable {
  let store: SharedStore
  let unlocking: UnlockKeeper
  let held: HeldGrants
  /// Told of each step of a refresh before the next begins, from any thread.
  let step: @Sendable (RefreshStep) -> Void
  let bootID: String

  /// `/proc/sys/kernel/random/boot_id`: which start of the machine this is. Empty where there is none; then no token is
  /// taken to be of this start.
  static let currentBootID: String = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)).prefix { $0 > 0x20 }, as: UTF8.self)
  }()
}

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

  /// The record a name means now; nil if there is none.
  func record(_ name: AccountName) async throws(StoreError) -> GrantRecord? {
    try await run { (store) throws(StoreError) in try store.records().first { $0.isMeant(by: name) } }
  }

  /// The grant a name means now, opened; nil if there is none.
  func grant(_ name: AccountName) async throws(StoreError) -> StoredGrant? {
    try await run { (store) throws(StoreError) in
      guard let record = try store.records().first(where: { $0.isMeant(by: name) }) else { return nil }
      return try store.grant(record.id)
    }
  }
}

extension GrantRecord {
  func isMeant(by name: AccountName) -> Bool {
    profile == name.profile && (name.account.map { $0 == account } ?? isDefault)
  }
}

extension StoredToken {
  /// When it was received, in terms of this start of the machine; nil if the clocks can't tell.
  func received(at now: Moment, bootID: String) -> Moment? {
    if !bootID.isEmpty, bootID == self.bootID {
      return Moment(wallNanoseconds: receivedAtWallNanoseconds, bootNanoseconds: receivedAtBootNanoseconds)
    }
    // The boot clock began anew. A wall clock before the receipt was set back, and nobody knows by how much.
    let (elapsed, overflow) = now.wallNanoseconds.subtractingReportingOverflow(receivedAtWallNanoseconds)
    guard !overflow, elapsed >= 0 else { return nil }
    return Moment(
      wallNanoseconds: receivedAtWallNanoseconds, bootNanoseconds: now.bootNanoseconds.subtractingSaturated(elapsed))
  }
}
