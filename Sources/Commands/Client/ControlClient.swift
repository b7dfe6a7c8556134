import Configuration
import Console
import HTTPWire

/// Asks the running daemon over its control socket (`Config/admin-api.yaml`), blocking; one connection a request.
struct ControlClient {
  /// How an answer ended.
  enum Ending {
    case complete
    /// The daemon went away in the middle.
    case cut
  }

  private static let answerBytesMax = 16 << 20
  private static let problemBytesMax = 64 << 10

  /// For connecting, and for a whole answer; for a live one until it begins.
  static let answerLimit = Duration.seconds(10)

  private let path: String
  private let limit: Duration

  init(path: String, limit: Duration = answerLimit) {
    self.path = path
    self.limit = limit
  }

  /// Finds the socket as the daemon does.
  ///
  /// - Throws: a usage failure when the configuration that was named cannot be used, or nothing says where to look.
  init(
    _ arguments: Arguments, _ invocation: Invocation, limit: Duration = answerLimit
  ) throws(CommandFailure) {
    self.limit = limit
    if let path = ControlSocketPath.inRuntimeDirectory(environment: invocation.environment) {
      self.path = path
      return
    }
    let state: String
    if arguments.last("--config") != nil {
      state = try ConfigurationFile.load(arguments, invocation, quietly: true).stateDirectory
    } else if let configuration = try? ConfigurationFile.read(arguments, invocation).configuration {
      state = configuration.stateDirectory
    } else if let directory = Configuration.defaultStateDirectory(environment: invocation.environment) {
      // A configuration that became unusable does not hide the daemon that runs.
      state = directory
    } else {
      throw .usage("the control socket cannot be found without XDG_RUNTIME_DIR and HOME", hint: "set one of them")
    }
    path = ControlSocketPath.path(environment: [:], stateDirectory: state)
  }

  /// The body of a complete 200 answer.
  func get(_ target: String) throws(CommandFailure) -> [UInt8] {
    var body: [UInt8] = []
    let ending = try stream(target) { bytes throws(CommandFailure) in
      guard body.count + bytes.count <= Self.answerBytesMax else { throw Self.unreadable("it is too large") }
      body.append(contentsOf: bytes)
    }
    guard ending == .complete else { throw Self.unreadable("it breaks off") }
    return body
  }

  /// Hands over body bytes as they come, until the answer ends.
  ///
  /// - Parameter isLive: once it has begun, the answer may take as long as it takes.
  /// - Throws: what is wrong with the connection or the answer, or what `body` throws.
  func stream(
    _ target: String, isLive: Bool = false, _ body: (UnsafeRawBufferPointer) throws(CommandFailure) -> Void
  ) throws(CommandFailure) -> Ending {
    var connection = try connect()
    try connection.send(Array("GET \(target) HTTP/1.1\r\nHost: proofd\r\nConnection: close\r\n\r\n".utf8))
    guard let head = try connection.receiveHead() else { throw Self.unreadable("it has no head") }
    guard head.status == 200 else {
      var problem: [UInt8] = []
      _ = try connection.receiveBody(head) { bytes throws(CommandFailure) in
        problem.append(contentsOf: bytes.prefix(Self.problemBytesMax - problem.count))
      }
      throw Self.refusal(head.status, problem)
    }
    if isLive { connection.waitForever() }
    return try connection.receiveBody(head, body) ? .complete : .cut
  }

  /// One request with its whole answer, whatever its status.
  ///
  /// - Parameter content: JSON.
  func ask(
    _ method: String, _ target: String, content: [UInt8]?
  ) throws(CommandFailure) -> (status: UInt16, body: [UInt8]) {
    var connection = try connect()
    let fields = content.map { "Content-Type: application/json\r\nContent-Length: \($0.count)\r\n" } ?? ""
    try connection.send(
      Array("\(method) \(target) HTTP/1.1\r\nHost: proofd\r\nConnection: close\r\n\(fields)\r\n".utf8)
        + (content ?? []))
    guard let head = try connection.receiveHead() else { throw Self.unreadable("it has no head") }
    var body: [UInt8] = []
    let isWhole = try connection.receiveBody(head) { bytes throws(CommandFailure) in
      guard body.count + bytes.count <= Self.answerBytesMax else { throw Self.unreadable("it is too large") }
      body.append(contentsOf: bytes)
    }
    guard isWhole else { throw Self.unreadable("it breaks off") }
    return (head.status, body)
  }

  /// Whether a daemon takes connections.
  ///
  /// - Throws: a failure when one is there and takes none.
  func answers() throws(CommandFailure) -> Bool {
    do throws(BlockingConnection.Refused) {
      _ = try BlockingConnection(path: path, limit: limit)
      return true
    } catch {
      if error.isSilence { throw BlockingConnection.silence(limit) }
      return false
    }
  }

  private func connect() throws(CommandFailure) -> BlockingConnection {
    do throws(BlockingConnection.Refused) {
      return try BlockingConnection(path: path, limit: limit)
    } catch {
      if error.isSilence { throw BlockingConnection.silence(limit) }
      throw CommandFailure(
        exitCode: .daemonUnreachable, message: "no daemon answers at \(path): \(error.reason)",
        hint: "start one with proofd serve")
    }
  }

  /// What the daemon says is wrong; it says one thing to do as well.
  private static func refusal(_ status: UInt16, _ body: [UInt8]) -> CommandFailure {
    let problem = try? JSONValue(parsing: body)  // without one the status must do
    return CommandFailure(
      exitCode: .failed,
      message: "the daemon refuses, status \(status): \(problem?["detail"]?.stringValue ?? "it does not say why")",
      hint: problem?["next"]?.stringValue)
  }

  static func unreadable(_ reason: String) -> CommandFailure {
    CommandFailure(exitCode: .failed, message: "the daemon's answer cannot be read: \(reason)")
  }
}
