import Cryptography
import EventLoop
import Glibc
import Synchronization

/// What all accounts of one store share.
struct AccountWorld: Sendable {
  let store: SharedStore
  let unlocking: UnlockKeeper
  let held: HeldGrants
  let sessions = GrantSessions()
  /// Told of each step of a refresh before the next begins, from any thread.
  let step: @Sendable (RefreshStep) -> Void
  let bootID: String
  private let isStopping = StopFlag()

  init(
    store: any CredentialStore, unlocking: UnlockKeeper, held: HeldGrants,
    step: @escaping @Sendable (RefreshStep) -> Void, bootID: String = currentBootID
  ) {
    self.store = SharedStore(store)
    self.unlocking = unlocking
    self.held = held
    self.step = step
    self.bootID = bootID
  }

  /// No refresh begins any more.
  func stop() { isStopping.set() }

  func checkIsRunning() throws(FetchFailure) {
    guard isStopping.isSet else { return }
    throw FetchFailure(kind: .unavailable, code: "stopping", detail: "proofd is ending")
  }

  /// - Throws: if the policy does not let the store be opened now.
  func checkMayOpen() throws(FetchFailure) {
    if unlocking.isOver || !unlocking.mayOpen { throw FetchFailure(StoreError.locked) }
  }

  /// Opens nothing any more, lets the refreshes under way be stored, and locks the store. Not with a turn of a session's.
  func lock() async throws(StoreError) {
    unlocking.lockBegins()
    defer { unlocking.lockEnds() }
    for session in sessions.all {
      await session.turn.enter()
      session.turn.leave()
    }
    try await store.run { (store) throws(StoreError) in try store.lock() }
  }

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

private final class StopFlag: Sendable {
  private let flag = Atomic(false)
  func set() { flag.store(true, ordering: .relaxed) }
  var isSet: Bool { flag.load(ordering: .relaxed) }
}
