/// Finds the payload in a chunked body, strictly, however the bytes are cut into reads.
///
/// Chunk extensions are checked, bounded and dropped; trailer lines are checked, bounded and pointed at.
///
/// ```swift
/// switch scanner.next(bytes) {
/// case .payload(let range, let consumed): …      // forward bytes[range]; call again with what follows
/// case .trailer(let range, let consumed): …      // keep bytes[range]: the next piece of the trailer lines
/// case .needMore(let consumed): …                // all consumed; read more
/// case .end(let consumed): …                     // what follows belongs to the next message
/// case .violation(let violation): …              // close
/// }
/// ```
/// RFC 9112 §7.1
package struct ChunkScanner: Sendable {
  package enum Step: Equatable, Sendable {
    case payload(range: Range<Int>, consumed: Int)
    /// Part of the trailer lines: their CR LFs are in it, the empty line behind them is not.
    case trailer(range: Range<Int>, consumed: Int)
    case needMore(consumed: Int)
    case end(consumed: Int)
    case violation(ChunkViolation)
  }

  /// The bytes of a chunk's extensions.
  package static let extensionBytesMax = 1_024
  /// The bytes of all trailer lines.
  package static let trailerBytesMax = 8_192
  package static let trailerCountMax = 64
  /// The digits of a chunk size, leading zeros included.
  package static let sizeDigitsMax = 16

  private enum State: UInt8 {
    case sizeStart, size, whitespaceAfterSize, chunkExtension, sizeLineFeed
    case data, dataCarriageReturn, dataLineFeed
    case trailerStart, trailerName, trailerValue, trailerLineFeed, lastLineFeed
    case ended, failed
  }

  private var state = State.sizeStart
  private var size: UInt64 = 0
  private var digitCount = 0
  private var extensionBytes = 0
  private var trailerBytes = 0
  private var trailerCount = 0
  private var violation = ChunkViolation.size

  package init() {}

  /// Whether the last chunk and the trailer section have been read to their end.
  package var isAtEnd: Bool { state == .ended }

  /// One step over `bytes`, the bytes not consumed yet. After `end` or `violation` every further step is the same.
  package mutating func next(_ bytes: UnsafeRawBufferPointer) -> Step {
    var at = 0
    while true {
      switch state {
      case .ended: return .end(consumed: at)
      case .failed: return .violation(violation)
      case .data:
        guard at < bytes.count else { return .needMore(consumed: at) }
        let taken = Int(min(size, UInt64(bytes.count - at)))
        size -= UInt64(taken)
        if size == 0 { state = .dataCarriageReturn }
        return .payload(range: at..<at + taken, consumed: at + taken)
      case .trailerStart where at < bytes.count && bytes[at] == ASCII.carriageReturn:
        state = .lastLineFeed
        at += 1
      case .trailerStart, .trailerName, .trailerValue, .trailerLineFeed:
        guard at < bytes.count else { return .needMore(consumed: at) }
        let end = scanTrailer(bytes, from: at)
        if state != .failed { return .trailer(range: at..<end, consumed: end) }
      default:
        guard at < bytes.count else { return .needMore(consumed: at) }
        if let refused = step(bytes[at]) {
          state = .failed
          violation = refused
        }
        at += 1
      }
    }
  }

  /// - Returns: where the trailer lines that are here end.
  private mutating func scanTrailer(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var at = start
    while at < bytes.count, state != .trailerStart || bytes[at] != ASCII.carriageReturn {
      if let refused = step(bytes[at]) {
        state = .failed
        violation = refused
        return at
      }
      at += 1
    }
    return at
  }

  private mutating func step(_ byte: UInt8) -> ChunkViolation? {
    switch state {
    case .sizeStart, .size: return stepSize(byte)
    case .whitespaceAfterSize, .chunkExtension: return stepExtension(byte)
    case .sizeLineFeed:
      guard byte == ASCII.lineFeed else { return .lineEnd }
      state = size == 0 ? .trailerStart : .data
    case .dataCarriageReturn:
      guard byte == ASCII.carriageReturn else { return .dataEnd }
      state = .dataLineFeed
    case .dataLineFeed:
      guard byte == ASCII.lineFeed else { return .dataEnd }
      beginChunk()
    case .trailerStart, .trailerName, .trailerValue: return stepTrailer(byte)
    case .trailerLineFeed:
      guard byte == ASCII.lineFeed else { return .lineEnd }
      state = .trailerStart
    case .lastLineFeed:
      guard byte == ASCII.lineFeed else { return .lineEnd }
      state = .ended
    case .data, .ended, .failed: break
    }
    return nil
  }

  private mutating func beginChunk() {
    state = .sizeStart
    size = 0
    digitCount = 0
    extensionBytes = 0
  }

  /// `1*HEXDIG`, at most 16 digits, below 2^63.
  private mutating func stepSize(_ byte: UInt8) -> ChunkViolation? {
    if let digit = ASCII.hexValue(byte) {
      guard digitCount < ChunkScanner.sizeDigitsMax, size < 1 << 59 else { return .sizeTooLarge }
      size = size << 4 | UInt64(digit)
      digitCount += 1
      state = .size
      return nil
    }
    guard state == .size else { return .size }
    switch byte {
    case ASCII.carriageReturn: state = .sizeLineFeed
    case ASCII.lineFeed: return .lineEnd
    case UInt8(ascii: ";"): state = .chunkExtension
    case ASCII.space, ASCII.horizontalTab: state = .whitespaceAfterSize
    default: return .size
    }
    return nil
  }

  /// Whitespace is allowed before a `;` only. RFC 9112 §7.1.1
  private mutating func stepExtension(_ byte: UInt8) -> ChunkViolation? {
    extensionBytes += 1
    guard extensionBytes <= ChunkScanner.extensionBytesMax else { return .extensionTooLarge }
    if state == .whitespaceAfterSize {
      if ASCII.isWhitespace(byte) { return nil }
      guard byte == UInt8(ascii: ";") else { return .size }
      state = .chunkExtension
      return nil
    }
    if byte == ASCII.carriageReturn {
      state = .sizeLineFeed
      return nil
    }
    if byte == ASCII.lineFeed { return .lineEnd }
    return ASCII.isFieldValueByte(byte) ? nil : .chunkExtension
  }

  /// Trailer lines have the syntax of field lines. RFC 9112 §7.1.2
  private mutating func stepTrailer(_ byte: UInt8) -> ChunkViolation? {
    trailerBytes += 1
    guard trailerBytes <= ChunkScanner.trailerBytesMax else { return .trailersTooLarge }
    switch state {
    case .trailerStart:
      trailerCount += 1
      guard trailerCount <= ChunkScanner.trailerCountMax else { return .trailersTooLarge }
      guard ASCII.isTokenByte(byte) else { return byte == ASCII.lineFeed ? .lineEnd : .trailer }
      state = .trailerName
    case .trailerName:
      if byte == UInt8(ascii: ":") {
        state = .trailerValue
      } else if !ASCII.isTokenByte(byte) {
        return .trailer
      }
    default:
      if byte == ASCII.carriageReturn {
        state = .trailerLineFeed
      } else if !ASCII.isFieldValueByte(byte) {
        return byte == ASCII.lineFeed ? .lineEnd : .trailer
      }
    }
    return nil
  }
}

/// Why a chunked body is refused.
package enum ChunkViolation: Error, Equatable, Sendable {
  case size, sizeTooLarge, chunkExtension, extensionTooLarge, lineEnd, dataEnd, trailer, trailersTooLarge

  package var detail: StaticString {
    switch self {
    case .size: "A chunk size is not a hexadecimal number."
    case .sizeTooLarge: "A chunk size has more than 16 digits or is 2^63 or more."
    case .chunkExtension: "A chunk extension holds a control byte."
    case .extensionTooLarge: "A chunk extension is too long."
    case .lineEnd: "A line of the chunked coding does not end with CR LF."
    case .dataEnd: "The data of a chunk is not followed by CR LF."
    case .trailer: "A trailer line is not a valid field line."
    case .trailersTooLarge: "The trailer section is too large."
    }
  }
}
