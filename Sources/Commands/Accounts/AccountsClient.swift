import HTTPWire

/// Performs requests of the admin API about accounts, wherever the accounts are.
protocol AccountsClient {
  func perform(_ request: AccountsRequest) throws(CommandFailure) -> AccountsAnswer
  /// They are those of a process that goes on.
  var isDaemon: Bool { get }
}

/// A request of the admin API (`Config/admin-api.yaml`).
struct AccountsRequest {
  let method: String
  let path: String
  var content: JSONValue?

  /// - Parameters:
  ///   - account: as the person named it; the account's own resource if `part` is nil.
  static func account(
    _ account: String, _ part: String? = nil, method: String = "GET", content: JSONValue? = nil
  ) -> AccountsRequest {
    let path = "/v1/accounts/\(PercentEncoding.encode(account))"
    return AccountsRequest(method: method, path: part.map { "\(path)/\($0)" } ?? path, content: content)
  }

  static let list = AccountsRequest(method: "GET", path: "/v1/accounts")
  static let lockStatus = AccountsRequest(method: "GET", path: "/v1/lock")
  static let lock = AccountsRequest(method: "POST", path: "/v1/lock")
}

struct AccountsAnswer {
  let status: UInt16
  /// null when there is no content.
  let json: JSONValue

  init(status: UInt16, body: [UInt8]) throws(CommandFailure) {
    self.status = status
    guard !body.isEmpty else {
      json = .null
      return
    }
    do throws(JSONViolation) {
      json = try JSONValue(parsing: body, limits: JSONLimits(bytesMax: 16 << 20))
    } catch {
      throw ControlClient.unreadable("it is not JSON")
    }
  }

  /// The content of a success.
  ///
  /// - Throws: what the problem says, with the exit code of its kind.
  func success() throws(CommandFailure) -> JSONValue {
    if (200...299).contains(status) { return json }
    let exitCode: ExitCode =
      switch status {
      case 423, 511: .loginOrUnlockNeeded
      case 400, 422: .usage
      default: .failed
      }
    throw CommandFailure(
      exitCode: exitCode, message: json["detail"]?.stringValue ?? "refused with status \(status)",
      hint: json["next"]?.stringValue)
  }
}

/// The accounts of the daemon that runs.
struct DaemonAccounts: AccountsClient {
  let control: ControlClient
  let isDaemon = true

  func perform(_ request: AccountsRequest) throws(CommandFailure) -> AccountsAnswer {
    let (status, body) = try control.ask(
      request.method, request.path, content: request.content.map { $0.serialised() })
    return try AccountsAnswer(status: status, body: body)
  }
}
