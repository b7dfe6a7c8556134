/// Finds where a message head ends, without parsing it.
package enum HeadBoundary {
  package enum Boundary: Equatable, Sendable {
    /// The head is the first `headBytes` bytes, CR LF CR LF included.
    case end(headBytes: Int)
    case incomplete
    case violation(HeadViolation)
  }

  /// Looks for CR LF CR LF from `scanned` on; a bare LF, a bare CR or a first byte that begins no HTTP/1 message is a
  /// violation at once. How many bytes may come before the end is the caller's to bound.
  ///
  /// - Parameters:
  ///   - bytes: everything received of the message so far.
  ///   - scanned: 0 at first; kept between calls for the same message, so that no byte is looked at twice.
  ///
  /// RFC 9112 §2.2
  package static func find(_ bytes: UnsafeRawBufferPointer, scanned: inout Int) -> Boundary {
    let count = bytes.count
    precondition(scanned >= 0 && scanned <= count)
    guard count > 0 else { return .incomplete }
    if scanned == 0, !ASCII.isTokenByte(bytes[0]) { return .violation(refusal(ofFirst: bytes[0])) }
    var index = scanned
    while true {
      index = nextLineByte(bytes, from: index)
      guard index < count else { break }
      if bytes[index] == ASCII.lineFeed { return .violation(.bareLineFeed) }
      guard index + 1 < count else { break }
      if bytes[index + 1] != ASCII.lineFeed { return .violation(.bareCarriageReturn) }
      guard index + 2 < count else { break }
      if bytes[index + 2] == ASCII.carriageReturn {
        guard index + 3 < count else { break }
        return bytes[index + 3] == ASCII.lineFeed ? .end(headBytes: index + 4) : .violation(.bareCarriageReturn)
      }
      index += 2
    }
    scanned = index
    return .incomplete
  }

  /// The position of the next CR or LF, or the count.
  @inline(__always)
  private static func nextLineByte(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let count = bytes.count
    var index = start
    while index &+ 8 <= count {
      // Other control bytes are rare, and the parser's to refuse.
      let controls = WordScan.bytesBelow(WordScan.load(bytes, at: index), 0x20)
      if controls == 0 {
        index &+= 8
        continue
      }
      index &+= controls.trailingZeroBitCount / 8
      if bytes[index] == ASCII.carriageReturn || bytes[index] == ASCII.lineFeed { return index }
      index &+= 1
    }
    while index < count, bytes[index] != ASCII.carriageReturn, bytes[index] != ASCII.lineFeed { index &+= 1 }
    return index
  }

  private static func refusal(ofFirst byte: UInt8) -> HeadViolation {
    switch byte {
    case ASCII.carriageReturn, ASCII.lineFeed: .emptyStartLine
    case 0x16: .tlsHandshake
    default: .notHTTP
    }
  }
}
