import Glibc

/// A pipe nobody reads until the test does. The test closes its writer when it is done with it, which also keeps the
/// descriptor its own until then.
final class TestPipe: @unchecked Sendable {  // its two ends may be used and closed by one thread each
  let reader: Int32
  let writer: Int32
  private var isReaderOpen = true
  private var isWriterOpen = true

  init() {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0)
    (reader, writer) = (ends[0], ends[1])
  }

  deinit {
    closeReader()
    closeWriter()
  }

  /// Puts bytes in until no more fit.
  func fill() -> Int {
    let flags = fcntl(writer, F_GETFL)
    _ = fcntl(writer, F_SETFL, flags | O_NONBLOCK)
    defer { _ = fcntl(writer, F_SETFL, flags) }
    let zeros = [UInt8](repeating: 0, count: 4_096)
    var total = 0
    while true {
      let count = write(writer, zeros, zeros.count)
      guard count > 0 else { return total }
      total += count
    }
  }

  func closeReader() {
    if isReaderOpen { close(reader) }
    isReaderOpen = false
  }

  func closeWriter() {
    if isWriterOpen { close(writer) }
    isWriterOpen = false
  }

  /// Reads exactly `count` bytes.
  func read(_ count: Int) -> [UInt8] {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while all.count < count {
      let got = Glibc.read(reader, &piece, min(piece.count, count - all.count))
      guard got > 0 else { break }
      all += piece[..<got]
    }
    return all
  }

  /// Reads until all writers are gone.
  func readToEnd() -> String { String(decoding: FileBytes.readAll(reader), as: UTF8.self) }
}
