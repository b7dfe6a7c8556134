/// What the process says when it ends; the only place where outcomes become numbers (design §2).
enum ExitCode: Int32 {
  case ok = 0
  case failed = 1
  /// A wrong word on the command line, or a configuration that cannot be used.
  case usage = 2
  case loginOrUnlockNeeded = 3
  case daemonUnreachable = 4
}

/// Why a verb stops.
struct CommandFailure: Error {
  let exitCode: ExitCode
  let message: String
  /// One thing to do.
  var hint: String?

  static func usage(_ message: String, hint: String? = nil) -> CommandFailure {
    CommandFailure(exitCode: .usage, message: message, hint: hint)
  }
}
