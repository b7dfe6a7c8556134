import Configuration
import Console
import Daemon
import EventLoop
import Locking

/// The accounts of the store itself, when no daemon answers. Other processes may use it at the same time.
final class StoreAccounts: AccountsClient {
  private let local: LocalAccounts
  private let api: AccountAPI

  let isDaemon = false

  init(_ configuration: Configuration) throws(CommandFailure) {
    do throws(DaemonError) {
      local = try LocalAccounts(configuration)
    } catch {
      throw CommandFailure(exitCode: .failed, message: error.description)
    }
    api = AccountAPI(local.service)
  }

  deinit { local.close() }

  func perform(_ request: AccountsRequest) throws(CommandFailure) -> AccountsAnswer {
    // A refresh that is broken off may cost the login.
    PatientEnding.begin()
    let answer = AnswerBox()
    Task { [api] in
      answer.fill(
        await api.answer(
          method: request.method, path: request.path, content: request.content?.serialised() ?? []))
    }
    let content = answer.wait()
    return try AccountsAnswer(status: content.statusCode, body: content.body)
  }
}

/// Carries an answer from the task that makes it to the thread that waits.
private final class AnswerBox: Sendable {
  private let content = Protected<AdminAnswer?>(nil)
  private let isFull = ThreadGate()

  func fill(_ answer: AdminAnswer) {
    content.withLock { $0 = answer }
    isFull.open()
  }

  func wait() -> AdminAnswer {
    isFull.wait()
    guard let answer = content.withLock({ $0 }) else { preconditionFailure("the gate opens behind the answer") }
    return answer
  }
}
