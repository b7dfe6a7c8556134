import Glibc
import HTTPWire

/// Reads a log line by line.
enum LogFile {
  private static let readBytes = 65_536

  /// - Throws: a failure when the file cannot be opened or read to its end.
  static func forEachLine(_ path: String, _ body: ([UInt8]) -> Void) throws(CommandFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: readBytes)
    var line: [UInt8] = []
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw failure(path) }
      guard count > 0 else { break }
      for byte in buffer[..<count] {
        if byte == ASCII.lineFeed {
          body(line)
          line.removeAll(keepingCapacity: true)
        } else if line.count < EventStreamParser.lineBytesMax {
          line.append(byte)
        }
      }
    }
    if !line.isEmpty { body(line) }
  }

  /// The last `count` lines that `isWanted`.
  static func last(
    _ count: Int, of path: String, where isWanted: ([UInt8]) -> Bool
  ) throws(CommandFailure) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    try forEachLine(path) { line in
      guard isWanted(line) else { return }
      lines.append(line)
      if lines.count >= 2 * count + 1 { lines.removeFirst(lines.count - count) }
    }
    return lines.suffix(count)
  }

  private static func failure(_ path: String) -> CommandFailure {
    CommandFailure(exitCode: .failed, message: "cannot read \(path): \(String(cString: strerror(errno)))")
  }
}
