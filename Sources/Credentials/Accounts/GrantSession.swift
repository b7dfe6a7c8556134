import EventLoop
import Locking
import OAuth

/// What one process does with one grant, under whatever name it is asked for. Any task.
final class GrantSession: Sendable {
  /// An answer that could not be stored yet. Nobody else may refresh the grant until it is: the lease stays with it.
  struct Pending: Sendable {
    let received: Received
    let binding: TokenBinding
    let lease: any GrantLease
    /// Who asked for it.
    let name: AccountName
  }

  private struct State {
    var pending: Pending?
    var backoff = FetchBackoff()
  }

  let id: GrantID
  /// Whoever refreshes, or stores what is pending, is inside.
  let turn = AsyncTurn()
  private let state = Protected(State())

  init(_ id: GrantID) { self.id = id }

  var pending: Pending? { state.withLock { $0.pending } }
  func set(_ pending: Pending?) { state.withLock { $0.pending = pending } }

  /// Why the server is left in peace now, for all targets of the grant; nil if it is not.
  func pause(at now: Moment) -> FetchFailure? {
    state.withLock { state in
      guard state.backoff.isOn(at: now), var failure = state.backoff.last else { return nil }
      failure.retryAfter = .seconds(state.backoff.pauseSecondsLeft(at: now))
      return failure
    }
  }

  /// Takes note of how a call ended. Only what says nothing of the target that was asked for counts.
  func ended(_ failure: FetchFailure?, at now: Moment) {
    state.withLock { state in
      if let failure {
        if failure.kind == .unavailable { state.backoff.failed(failure, at: now) }
      } else {
        state.backoff.succeeded()
      }
    }
  }

  func startOver() { state.withLock { $0.backoff.succeeded() } }
}

/// The sessions of all grants. Any thread.
final class GrantSessions: Sendable {
  private let sessions = Protected<[GrantID: GrantSession]>([:])

  func session(of id: GrantID) -> GrantSession {
    sessions.withLock { sessions in
      if let known = sessions[id] { return known }
      let made = GrantSession(id)
      sessions[id] = made
      return made
    }
  }

  var all: [GrantSession] { sessions.withLock { Array($0.values) } }

  /// Forgets those of grants that are gone and owe the store nothing.
  func forget(_ ids: Set<GrantID>) {
    sessions.withLock { sessions in
      for id in ids where sessions[id]?.pending == nil { sessions[id] = nil }
    }
  }
}
