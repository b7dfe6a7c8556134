import Glibc
import Tracing

/// Where a command writes: results on standard output, talk on standard error. Nothing else in the process writes there.
///
/// Secrets the process holds are masked in all of it but what goes through ``reveal(_:)``.
struct Terminal: Sendable {
  /// Whether output may be coloured: a terminal, and NO_COLOR not set (no-color.org).
  let isColoured: Bool

  init(environment: [String: String]) {
    self.init(isColoured: isatty(STDOUT_FILENO) == 1 && Self.allowsColour(environment))
  }

  init(isColoured: Bool) { self.isColoured = isColoured }

  static func allowsColour(_ environment: [String: String]) -> Bool {
    environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }

  /// Writes a result line. When its reader is gone the process ends: `proofd tail | head`.
  func result(_ line: String) { put(Self.masked(line)) }

  /// Writes lines of JSON as a result; they stay JSON.
  func result(json: [UInt8]) { put(HeldSecrets.process.mask(json: json)) }

  /// Writes a result line that is a secret, because the user asked for exactly that.
  func reveal(_ line: String) { put(Array("\(line)\n".utf8)) }

  private static func masked(_ line: String) -> [UInt8] { Array("\(HeldSecrets.mask(line))\n".utf8) }

  private func put(_ bytes: [UInt8]) {
    let failure = Self.write(bytes, to: STDOUT_FILENO)
    guard failure != 0 else { return }
    if failure != EPIPE { talk("proofd: cannot write the result: \(String(cString: strerror(failure)))") }
    exit((failure == EPIPE ? ExitCode.ok : ExitCode.failed).rawValue)
  }

  /// Writes a result line of a process that goes on whether or not somebody reads it.
  func announce(_ line: String) { _ = Self.write(Self.masked(line), to: STDOUT_FILENO) }

  /// Writes a line for the person, not for the next program.
  func talk(_ line: String) { _ = Self.write(Self.masked(line), to: STDERR_FILENO) }

  /// Writes a question; the answer is typed behind it.
  func ask(_ question: String) { _ = Self.write(Array(HeldSecrets.mask(question).utf8), to: STDERR_FILENO) }

  func coloured(_ text: String, _ colour: Colour?) -> String {
    guard isColoured, let colour else { return text }
    return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
  }

  enum Colour: Int {
    case red = 31, green = 32, yellow = 33, cyan = 36, dim = 2
  }

  /// - Returns: 0, or the errno of what went wrong.
  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        } else if errno == EAGAIN {
          // Somebody else made the pipe non-blocking.
          var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&request, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
  }
}
