import Glibc

/// An open log. Only the writer thread writes to it.
final class LogOutput: Sendable {
  enum Outcome: Equatable {
    case wrote(Int)
    /// It takes nothing at present; poll the descriptor.
    case blocked
    case failed(code: Int32)
  }

  let destination: LogDestination
  let descriptor: Int32
  /// Regular files, and nowhere, take everything at once; poll says nothing about them.
  let isAlwaysReady: Bool

  /// POSIX: a pipe that polls writable takes this much without blocking.
  private static let pieceBytesMax = 4_096

  init(_ destination: LogDestination) throws(TracingError) {
    self.destination = destination
    switch destination {
    case .standardError: descriptor = STDERR_FILENO
    case .descriptor(let open): descriptor = open
    case .nowhere: descriptor = -1
    case .file(let path): descriptor = try Self.openFile(path)
    }
    isAlwaysReady = descriptor < 0 || Self.isRegularFile(descriptor)
  }

  deinit {
    if case .file = destination { close(descriptor) }
  }

  /// Writes as much of `bytes` as goes without waiting for a reader.
  func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    guard descriptor >= 0 else { return .wrote(bytes.count) }
    guard isAlwaysReady || isWritable() else { return .blocked }
    let count = Glibc.write(
      descriptor, bytes.baseAddress, isAlwaysReady ? bytes.count : min(bytes.count, Self.pieceBytesMax))
    if count >= 0 { return .wrote(count) }
    return errno == EINTR || errno == EAGAIN ? .blocked : .failed(code: errno)
  }

  private func isWritable() -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&request, 1, 0) == 1
  }

  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

  /// One line on standard error.
  package static let complain: RecordHub.Complaint = { destination, code in
    let place: String
    switch destination {
    case .file(let path): place = "the log file \(path)"
    case .descriptor: place = "the log"
    case .standardError, .nowhere: return
    }
    StandardError.say("\(place) cannot be written: \(reason(code)); records are dropped and counted until it can")
  }

  private static func openFile(_ path: String) throws(TracingError) -> Int32 {
    // Not through a link: whoever may write the directory could otherwise aim the log at another file of ours.
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else {
      throw errno == ELOOP ? .logNotAFile(path: path) : .logNotOpened(path: path, code: errno)
    }
    guard isRegularFile(descriptor) else {
      close(descriptor)
      throw .logNotAFile(path: path)
    }
    // A file that logrotate or an editor made wider. Not ours to change if it belongs to someone else, so no check.
    fchmod(descriptor, 0o600)
    return descriptor
  }

  private static func isRegularFile(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}
