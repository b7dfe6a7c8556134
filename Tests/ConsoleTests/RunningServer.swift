import Credentials
import EventLoop
import Glibc
import HTTPWire
import Locking
import Tracing

@testable import Console

/// A control server on a loop thread of its own, in a folder that goes with it.
final class RunningServer {
  let folder = TemporaryFolder()
  let hub: RecordHub
  let path: String
  private let thread: LoopThread
  private let server: ServerBox

  init(
    ownUID: UInt32 = geteuid(), limits: LogLimits = LogLimits(), accounts: (any AccountService)? = AccountFake()
  ) throws {
    let hub = try RecordHub(.nowhere, limits: limits)
    let socket = try ControlSocket(path: "\(folder.path)/run/control.sock")
    let sources = ControlSources(
      status: { .object([("version", "1.2.3"), ("listeners", ["127.0.0.1:9449"])]) },
      routes: { [["name": "orders", "upstream": "https://api.example.com/v1"]] }, hub: hub,
      accounts: accounts)
    let box = ServerBox()
    thread = LoopThread(name: "control") { loop in
      let server = ControlServer(loop: loop, socket: socket, sources: sources, ownUID: ownUID)
      loop.keep(server)
      box.bound.withLock { $0 = LoopBound(server, on: loop) }
    }
    self.hub = hub
    server = box
    path = socket.path
  }

  func client() throws -> SocketClient { try SocketClient(path) }

  func submit(_ lines: [String]) {
    hub.submit(LineBatch(bytes: Array(lines.map { $0 + "\n" }.joined().utf8), lineCount: lines.count))
  }

  /// Closes the server and returns when that is done.
  func close() {
    let closed = ThreadGate()
    server.bound.withLock { $0 }?.post {
      $0.close()
      closed.open()
    }
    closed.wait()
  }

  deinit {
    close()
    hub.flushAndClose()
    thread.stop()
    thread.join()
  }
}

private final class ServerBox: Sendable {
  let bound = Protected<LoopBound<ControlServer>?>(nil)
}
