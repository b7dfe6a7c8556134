import HTTPWire

/// What a chunked body holds, whoever has read it.
struct ChunkedBody: Equatable {
  enum End: Equatable {
    case incomplete
    case refused
    /// The body takes this many bytes; what follows belongs to the next message.
    case complete(byteCount: Int)
  }

  /// The payload up to the end, or to where it stopped.
  var payload = Bytes()
  /// The trailer lines of a complete body, without the empty one.
  var trailers = Bytes()
  var end = End.incomplete

  /// What the grammar says, read byte by byte from an array that is there as a whole. RFC 9112 §7.1
  init(reading bytes: Bytes) {
    var reader = Reader(bytes: bytes)
    do throws(Reader.Stop) {
      while try reader.chunk(into: &payload) {}
      let start = reader.at
      try reader.trailers()
      trailers = Bytes(bytes[start..<reader.at - 2])
      end = .complete(byteCount: reader.at)
    } catch {
      end = error == .atEnd ? .incomplete : .refused
    }
  }

  /// What a scanner makes of the bytes when they come in pieces that end at `cuts`; and how it refused them.
  init(scanning bytes: Bytes, cuts: [Int] = [], refused: inout ChunkViolation?) {
    var scanner = ChunkScanner()
    var start = 0
    for cut in cuts + [bytes.count] where end == .incomplete {
      var isWaiting = false
      while !isWaiting {
        withExactCopy(of: bytes[start..<cut]) { piece in
          let step = scanner.next(piece)
          switch step {
          case .payload(let range, let consumed):
            check(!range.isEmpty && range.upperBound == consumed && consumed <= piece.count, "\(step)")
            payload += piece[range]
            start += consumed
          case .trailer(let range, let consumed):
            check(!range.isEmpty && range.upperBound == consumed && consumed <= piece.count, "\(step)")
            trailers += piece[range]
            start += consumed
          case .needMore(let consumed):
            check(consumed == piece.count, "\(step) of \(piece.count) bytes")
            start += consumed
            isWaiting = true
          case .end(let consumed):
            check(consumed <= piece.count, "\(step) of \(piece.count) bytes")
            start += consumed
            end = .complete(byteCount: start)
            isWaiting = true
            check(scanner.next(piece), equals: .end(consumed: 0), "the end does not stay")
          case .violation(let violation):
            refused = violation
            end = .refused
            isWaiting = true
            check(scanner.next(piece), equals: step, "a violation does not stay")
          }
        }
      }
    }
    if end == .incomplete || end == .refused { trailers = [] }
    check(scanner.isAtEnd == (end != .incomplete && end != .refused), "isAtEnd is \(scanner.isAtEnd) at \(end)")
  }
}

extension ChunkedBody: CustomStringConvertible {
  var description: String { "\(text(payload)) \(end)" }
}

/// Reads one part of the grammar after another, and stops where the bytes stop or are wrong.
private struct Reader {
  enum Stop: Error {
    case atEnd, refused
  }

  let bytes: Bytes
  var at = 0
  private var trailerBytes = 0

  init(bytes: Bytes) { self.bytes = bytes }

  private func peek() throws(Stop) -> UInt8 {
    guard at < bytes.count else { throw .atEnd }
    return bytes[at]
  }

  private mutating func take(_ expected: UInt8) throws(Stop) {
    guard try peek() == expected else { throw .refused }
    at += 1
  }

  private mutating func lineEnd() throws(Stop) {
    try take(0x0D)
    try take(0x0A)
  }

  /// - Returns: false for the last chunk.
  mutating func chunk(into payload: inout Bytes) throws(Stop) -> Bool {
    let size = try size()
    try extensions()
    try lineEnd()
    guard size > 0 else { return false }
    for _ in 0..<size {
      payload.append(try peek())
      at += 1
    }
    try lineEnd()
    return true
  }

  private mutating func size() throws(Stop) -> UInt64 {
    var size: UInt64 = 0
    var digits = 0
    while Grammar.isHexDigit(try peek()) {
      digits += 1
      let (product, overflow) = size.multipliedReportingOverflow(by: 16)
      size = product | (UInt64(String(decoding: [bytes[at]], as: UTF8.self), radix: 16) ?? 0)
      guard digits <= ChunkScanner.sizeDigitsMax, !overflow, size < 1 << 63 else { throw .refused }
      at += 1
    }
    guard digits > 0 else { throw .refused }
    return size
  }

  /// Anything a field value may hold behind a `;`. The bound counts what follows the first byte, the CR included.
  private mutating func extensions() throws(Stop) {
    let start = at
    while Grammar.isBlank(try peek()) { try pass(from: start) }
    if try peek() == UInt8(ascii: ";") {
      try pass(from: start)
      while Grammar.isFieldValueByte(try peek()) { try pass(from: start) }
    } else if at > start {
      throw .refused
    }
    if at - start > ChunkScanner.extensionBytesMax { throw .refused }
  }

  private mutating func pass(from start: Int) throws(Stop) {
    guard at - start <= ChunkScanner.extensionBytesMax else { throw .refused }
    at += 1
  }

  /// Field lines and an empty one.
  mutating func trailers() throws(Stop) {
    var count = 0
    while try peek() != 0x0D {
      count += 1
      guard count <= ChunkScanner.trailerCountMax else { throw .refused }
      guard Grammar.isTokenByte(try peek()) else { throw .refused }
      while Grammar.isTokenByte(try peek()) { try passTrailer() }
      guard try peek() == UInt8(ascii: ":") else { throw .refused }
      try passTrailer()
      while Grammar.isFieldValueByte(try peek()) { try passTrailer() }
      guard try peek() == 0x0D else { throw .refused }
      try passTrailer()
      try take(0x0A)
    }
    try lineEnd()
  }

  private mutating func passTrailer() throws(Stop) {
    trailerBytes += 1
    guard trailerBytes <= ChunkScanner.trailerBytesMax else { throw .refused }
    at += 1
  }
}

/// Scans a chunked body whole and in pieces, holds it to the grammar, and chunks its payload anew.
enum ChunkScannerTarget {
  static func run(_ bytes: Bytes) {
    var violation: ChunkViolation?
    let whole = ChunkedBody(scanning: bytes, refused: &violation)
    check(whole, equals: ChunkedBody(reading: bytes), "scanner and grammar differ (\(violation as Any))")
    for cuts in Cuts.single(bytes.count).map({ [$0] }) + [Cuts.several(bytes), Array(0...bytes.count)] {
      var other: ChunkViolation?
      check(
        ChunkedBody(scanning: bytes, cuts: cuts, refused: &other), equals: whole, "the body differs when cut at \(cuts)"
      )
      check(other, equals: violation, "the violation differs when cut at \(cuts)")
    }
    var refused: ChunkViolation?
    let again = ChunkedBody(scanning: chunked(whole.payload, cuts: Cuts.several(bytes)), refused: &refused)
    check(refused == nil && again.payload == whole.payload, "chunked anew it differs")
  }

  private static func chunked(_ payload: Bytes, cuts: [Int]) -> Bytes {
    var out = ByteBuffer()
    var start = 0
    for cut in cuts + [payload.count] {
      let end = min(cut, payload.count)
      guard end > start else { continue }
      out.append(hex: UInt64(end - start))
      out.append("\r\n")
      out.append(Array(payload[start..<end]))
      out.append("\r\n")
      start = end
    }
    out.append("0\r\n\r\n")
    return out.copy()
  }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChunkScanner(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  ChunkScannerTarget.run(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
