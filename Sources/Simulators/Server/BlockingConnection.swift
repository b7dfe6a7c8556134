import Cryptography
import HTTPWire

/// The server's side of one HTTP/1.1 connection: heads and bodies in, raw bytes out. RFC 9112
final class BlockingConnection {
  static let readBytes = 65_536
  static let limits = HeadLimits()
  /// How much of what a peer still sends is read after the last answer, so that the answer is not lost to an RST.
  static let lingerBytesMax = 64 << 20

  /// Counted from 1 for each listener.
  let number: Int
  let channel: any ByteChannel
  private var input = ByteBuffer()
  private let fields = FieldTable(capacity: 100)

  init(channel: any ByteChannel, number: Int) {
    self.channel = channel
    self.number = number
  }

  /// The next request head; nil at the peer's orderly end.
  ///
  /// - Throws: ``ConnectionFailure/malformed(_:)`` for what is not exactly HTTP/1.1.
  func nextHead() throws(ConnectionFailure) -> ReceivedHead? {
    var scanned = 0
    while true {
      switch input.withUnsafeBytes({ HeadBoundary.find($0, scanned: &scanned) }) {
      case .end(let headBytes):
        let head = input.withUnsafeBytes { bytes in
          ReceivedHead.parse(UnsafeRawBufferPointer(rebasing: bytes[..<headBytes]), Self.limits, fields)
        }
        input.consume(headBytes)
        do { return try head.get() } catch { throw .malformed(error) }
      case .violation(let violation): throw .malformed(violation)
      case .incomplete: break
      }
      guard input.count <= Self.limits.headBytesMax else { throw .malformed(.headTooLarge) }
      guard try fill() else {
        if input.isEmpty { return nil }
        throw .channel(.broken)
      }
    }
  }

  /// Reads the body that follows `head` to its end.
  func readBody(of head: ReceivedHead) throws(ConnectionFailure) -> ReceivedBody {
    var collector = BodyCollector()
    switch head.framing {
    case .none: break
    case .length(let count): try readCounted(count, into: &collector)
    case .chunked: try readChunked(into: &collector)
    case .untilClose: while try fill() { take(input.count, into: &collector) }
    }
    return collector.finish()
  }

  func write(_ bytes: [UInt8]) throws(ConnectionFailure) {
    do {
      // The typed error passes through the rethrowing closure only as a result.
      try bytes.withUnsafeBytes { bytes in
        Result { () throws(ChannelFailure) in try channel.write(bytes) }
      }.get()
    } catch { throw .channel(error) }
  }

  func pause(milliseconds: Int) throws(ConnectionFailure) {
    do { try channel.pause(milliseconds: milliseconds) } catch { throw .channel(error) }
  }

  /// Closes so that a peer that is still sending gets to read the last answer. RFC 9112 §9.6
  func closeGracefully() {
    channel.finishSending()
    var read = input.count
    input.removeAll()
    do {
      while read < Self.lingerBytesMax, try fill() {
        read += input.count
        input.removeAll()
      }
    } catch {}  // the connection ends either way
    channel.close()
  }

  /// Reads once; false at the peer's orderly end.
  private func fill() throws(ConnectionFailure) -> Bool {
    do {
      let count = try channel.read(into: input.reserve(Self.readBytes))
      input.commit(count)
      return count > 0
    } catch { throw .channel(error) }
  }

  private func readCounted(_ count: UInt64, into collector: inout BodyCollector) throws(ConnectionFailure) {
    var rest = count
    while rest > 0 {
      if input.isEmpty, try !fill() { throw .channel(.broken) }
      let piece = Int(min(UInt64(input.count), rest))
      take(piece, into: &collector)
      rest -= UInt64(piece)
    }
  }

  private func readChunked(into collector: inout BodyCollector) throws(ConnectionFailure) {
    var scanner = ChunkScanner()
    while true {
      let step = input.withUnsafeBytes { bytes in
        let step = scanner.next(bytes)
        switch step {
        case .payload(let range, _): collector.add(UnsafeRawBufferPointer(rebasing: bytes[range]))
        case .trailer(let range, _): collector.addTrailer(UnsafeRawBufferPointer(rebasing: bytes[range]))
        default: break
        }
        return step
      }
      switch step {
      case .payload(_, let consumed), .trailer(_, let consumed): input.consume(consumed)
      case .needMore(let consumed):
        input.consume(consumed)
        guard try fill() else { throw .channel(.broken) }
      case .end(let consumed): return input.consume(consumed)
      case .violation: throw .malformedBody
      }
    }
  }

  private func take(_ count: Int, into collector: inout BodyCollector) {
    input.withUnsafeBytes { collector.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    input.consume(count)
  }
}

/// Why a connection can't go on.
enum ConnectionFailure: Error, Equatable {
  case channel(ChannelFailure)
  case malformed(HeadViolation)
  case malformedBody
}

/// Hashes a body as it passes and keeps its beginning.
private struct BodyCollector: ~Copyable {
  private var body = ReceivedBody()
  private let hash = SHA256Stream()

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    hash.update(bytes)
    body.byteCount += UInt64(bytes.count)
    body.kept += bytes.prefix(ReceivedBody.keptBytesMax - body.kept.count)
  }

  mutating func addTrailer(_ bytes: UnsafeRawBufferPointer) { body.trailers += bytes }

  mutating func finish() -> ReceivedBody {
    body.digest = hash.finish()
    return body
  }
}
