import EventLoop
import OAuth
import Locking

/// What is known of one issuer. Fetched when first needed, by one task for all who wait, and again after an hour. Any thread.
final class MetadataCache: Sendable {
  static let lifetime = Duration.seconds(3600)

  private struct State {
    var metadata: AuthorizationServerMetadata?
    var fetchedAtBootNanoseconds: Int64 = 0
    var running: Task<Result<AuthorizationServerMetadata, FetchFailure>, Never>?
  }

  private enum Known {
    case metadata(AuthorizationServerMetadata)
    case soon(Task<Result<AuthorizationServerMetadata, FetchFailure>, Never>)
  }

  private let issuer: Issuer
  private let caller: AuthorizationServerCaller
  private let time: any TimeSource
  private let state = Protected(State())

  init(_ issuer: Issuer, caller: AuthorizationServerCaller, time: any TimeSource) {
    self.issuer = issuer
    self.caller = caller
    self.time = time
  }

  /// From memory, or from the issuer. If the issuer is down, what it said before still holds.
  func metadata() async throws(FetchFailure) -> AuthorizationServerMetadata {
    let now = time.bootNanoseconds
    let known = state.withLock { state -> Known in
      if let known = state.metadata, now - state.fetchedAtBootNanoseconds < Self.lifetime.nanoseconds {
        return .metadata(known)
      }
      let task = state.running ?? Task { await self.fetch() }
      state.running = task
      return .soon(task)
    }
    switch known {
    case .metadata(let metadata): return metadata
    case .soon(let task): return try await task.value.get()
    }
  }

  func forget() { state.withLock { $0.metadata = nil } }

  private func fetch() async -> Result<AuthorizationServerMetadata, FetchFailure> {
    var discovery = MetadataDiscovery(issuer)
    while let request = discovery.nextRequest() { discovery.judge(await caller.fetchMetadata(request)) }
    let found = Result { () throws(MetadataFailure) in try discovery.metadata() }
    let now = time.bootNanoseconds
    return state.withLock { state in
      state.running = nil
      switch found {
      case .success(let metadata):
        state.metadata = metadata
        state.fetchedAtBootNanoseconds = now
        return .success(metadata)
      case .failure(let failure):
        if failure.isTransient, let metadata = state.metadata { return .success(metadata) }
        return .failure(FetchFailure(failure, issuer: issuer))
      }
    }
  }
}
