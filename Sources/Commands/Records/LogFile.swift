import Glibc

/// Reads a log line by line.
enum LogFile {
  private static let readBytes = 65_536

  static func forEachLine(_ path: String, _ body: ([UInt8]) -> Void) throws(CommandFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandFailure(exitCode: .failed, message: "cannot read \(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: readBytes)
    var line: [UInt8] = []
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      for byte in buffer[..<count] {
        if byte == 0x0A {
          body(line)
          line.removeAll(keepingCapacity: true)
        } else if line.count < EventStreamParser.lineBytesMax {
          line.append(byte)
        }
      }
    }
    if !line.isEmpty { body(line) }
  }
}
