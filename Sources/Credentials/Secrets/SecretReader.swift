import Cryptography
import EventLoop
import Glibc
import Locking

/// Reads one secret, and again when it may have changed: a file when it is another one or `reread` has passed, a command
/// after `reread`. One read at a time. Any thread.
final class SecretReader: Sendable {
  private struct State {
    var secret: Secret?
    var version: SecretFile.Version?
    var isOpenToOthers = false
    var readAtBootNanoseconds: Int64 = .min
  }

  let origin: SecretOrigin
  private let reread: Duration
  private let time: any TimeSource
  private let commandTimeLimit: Duration
  private let withheld: Set<String>
  private let state: Protected<State>

  /// - Parameter withheld: environment variables that a command does not get.
  init(
    _ origin: SecretOrigin, reread: Duration, time: any TimeSource, withheld: Set<String> = [],
    commandTimeLimit: Duration = CommandRunner.timeLimit
  ) {
    self.origin = origin
    self.reread = reread
    self.time = time
    self.withheld = withheld
    self.commandTimeLimit = commandTimeLimit
    state = Protected(State())
  }

  /// - Parameter anew: don't answer from memory, whatever the age.
  func read(anew: Bool = false) async throws(FetchFailure) -> Secret {
    switch origin {
    case .literal(let secret): return secret
    case .environment(let name):
      guard let value = getenv(name), value.pointee != 0 else { throw failure(.notSet) }
      return Secret(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    case .file(let path): return try await BlockingWork.run(named: "secret-file") { self.file(path, anew) }.get()
    case .command(let words):
      if !anew, let secret = remembered() { return secret }
      return try await BlockingWork.run(named: "secret-command") { self.command(words) }.get()
    }
  }

  /// What the user should know although it works.
  var warnings: [String] {
    guard case .file(let path) = origin, state.withLock({ $0.isOpenToOthers }) else { return [] }
    return ["Other users can read \(path); chmod 600 would end that."]
  }

  private func remembered() -> Secret? {
    let now = time.bootNanoseconds
    return state.withLock { $0.secret != nil && now - $0.readAtBootNanoseconds < reread.nanoseconds ? $0.secret : nil }
  }

  private func file(_ path: String, _ anew: Bool) -> Result<Secret, FetchFailure> {
    let version = SecretFile.version(at: path)
    if !anew, let secret = remembered(), version == state.withLock({ $0.version }) { return .success(secret) }
    do throws(SecretFailure) {
      let file = try SecretFile(path: path)
      remember(file.secret, version: file.version, isOpenToOthers: file.isOpenToOthers)
      return .success(file.secret)
    } catch {
      return .failure(failure(error))
    }
  }

  private func command(_ words: [String]) -> Result<Secret, FetchFailure> {
    do throws(SecretFailure) {
      let secret = try SecretText.secret(
        from: try CommandRunner.run(words, withholding: withheld, timeLimit: commandTimeLimit))
      remember(secret, version: nil, isOpenToOthers: false)
      return .success(secret)
    } catch {
      return .failure(failure(error))
    }
  }

  private func remember(_ secret: Secret, version: SecretFile.Version?, isOpenToOthers: Bool) {
    let now = time.bootNanoseconds
    state.withLock {
      $0 = State(secret: secret, version: version, isOpenToOthers: isOpenToOthers, readAtBootNanoseconds: now)
    }
  }

  /// Why the secret can't be used, with the place that names it.
  func failure(_ failure: SecretFailure) -> FetchFailure {
    var found = FetchFailure(kind: .refused, code: failure.code, detail: "\(place): \(failure.detail)")
    found.next = failure.next
    found.isOfSetUp = true
    switch origin {
    case .literal, .environment: break
    // Reading costs nothing, so a file that was put right is found at once.
    case .file: found.pause = TokenLifetime.fileCheckInterval
    case .command:
      if !failure.isLasting { found.kind = .unavailable }
      found.retryAfter = FetchBackoff.refused.lowerBound
    }
    return found
  }

  /// Where it is read from, for the user.
  var place: String {
    switch origin {
    case .literal: "the secret in the configuration"
    case .environment(let name): "the environment variable \(name)"
    case .file(let path): "the file \(path)"
    // Arguments may hold secrets; the program's name doesn't.
    case .command(let words): "the command \(words.first ?? "")"
    }
  }
}

extension SecretFailure {
  /// Whether running the command again can't help.
  fileprivate var isLasting: Bool {
    switch self {
    case .notStarted, .tooLong, .empty, .unmaskable: true
    case .notSet, .unreadable, .notRegularFile, .timedOut, .exited, .killed: false
    }
  }
}
