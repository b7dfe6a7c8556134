import Cryptography
import Glibc

/// Reads secrets from the person at the terminal or from standard input; never from the command line.
enum SecretInput {
  /// More is no secret of this kind.
  static let lineBytesMax = 64 << 10

  /// A person can be asked.
  static var hasTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Asks without showing what is typed.
  ///
  /// - Throws: a failure for Ctrl-C, for Ctrl-D, and for nothing at all.
  static func prompt(_ question: String, _ terminal: Terminal) throws(CommandFailure) -> Secret {
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0 else { throw unreadable(errno) }
    var silent = settings
    // Keys come one by one, and Ctrl-C as a byte: so the echo is always switched on again, and a line has no limit of 4095.
    silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { throw unreadable(errno) }
    defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) }
    // Only now: what is typed early would be shown.
    terminal.ask("\(question): ")
    defer { terminal.talk("") }
    return try typedLine()
  }

  private static func typedLine() throws(CommandFailure) -> Secret {
    var typed = LineBuffer()
    while let byte = try nextByte() {
      switch byte {
      case 0x0A, 0x0D: return try typed.secret()
      case 0x03, 0x04: throw CommandFailure(exitCode: .failed, message: "nothing was entered")
      case 0x7F, 0x08: typed.removeLast()
      case 0x15: typed.removeAll()
      default: try typed.append(byte)
      }
    }
    return try typed.secret()
  }

  /// One line of standard input; what follows stays there.
  static func line() throws(CommandFailure) -> Secret {
    var read = LineBuffer()
    while let byte = try nextByte(), byte != 0x0A { try read.append(byte) }
    return try read.secret()
  }

  /// All that is left of standard input.
  static func rest(bytesMax: Int) throws(CommandFailure) -> Secret {
    try BoundedFile.read(STDIN_FILENO, bytesMax: bytesMax, name: "standard input")
  }

  private static func nextByte() throws(CommandFailure) -> UInt8? {
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 1 { return byte }
      if count == 0 { return nil }
      guard errno == EINTR else { throw unreadable(errno) }
    }
  }

  private static func unreadable(_ code: Int32) -> CommandFailure {
    CommandFailure(exitCode: .failed, message: "cannot read standard input: \(String(cString: strerror(code)))")
  }
}

/// A line as it comes; its bytes are zeroed with it.
private struct LineBuffer: ~Copyable {
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: SecretInput.lineBytesMax, alignment: 1)
  private var count = 0

  deinit {
    if let start = room.baseAddress { explicit_bzero(start, room.count) }
    room.deallocate()
  }

  mutating func append(_ byte: UInt8) throws(CommandFailure) {
    guard count < room.count else { throw .usage("the line is longer than \(room.count >> 10) KiB") }
    room[count] = byte
    count += 1
  }

  /// The last character, however many bytes it has.
  mutating func removeLast() {
    while count > 0 {
      count -= 1
      if room[count] & 0xC0 != 0x80 { return }
    }
  }

  mutating func removeAll() { count = 0 }

  /// - Throws: a failure if there is nothing.
  func secret() throws(CommandFailure) -> Secret {
    let end = count > 0 && room[count - 1] == 0x0D ? count - 1 : count
    guard end > 0 else { throw .usage("nothing was entered") }
    return Secret(UnsafeRawBufferPointer(rebasing: room[..<end]))
  }
}
