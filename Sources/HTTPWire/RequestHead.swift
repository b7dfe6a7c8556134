/// A request head that was parsed strictly: what could be read two ways is refused, nothing is repaired.
///
/// Ranges are offsets into the parsed bytes; the fields are in the `FieldTable` given to `parse`.
package struct RequestHead: Sendable {
  package var method: ByteRange
  package var knownMethod: RequestMethod
  /// As sent; `RequestTarget` takes it apart.
  package var target: ByteRange
  /// 0 or 1.
  package var minorVersion: UInt8
  /// The value of `Host`: a syntactically valid host with an optional port. Nil only in HTTP/1.0.
  package var host: ByteRange?
  /// `none`, `length` or `chunked`.
  package var framing: BodyFraming
  /// Whether the sender keeps the connection open after this exchange.
  package var persistent: Bool
  package var expectsContinue: Bool
  /// Whether the sender asks to switch protocols: an `Upgrade` field that `Connection` lists, in HTTP/1.1.
  package var upgrade: Bool
  /// Whether `Connection` lists anything but `close`, `keep-alive` and `upgrade`, so that fields must be looked up with
  /// `FieldTable.isConnectionOption`.
  package var connectionNamesFields: Bool

  /// Parses a whole request head.
  ///
  /// - Parameters:
  ///   - head: the bytes up to and including the empty line, as `HeadBoundary` found them.
  ///   - fields: filled with the fields; what it held before is dropped.
  ///
  /// RFC 9112 §3, §5, §6
  package static func parse(
    _ head: UnsafeRawBufferPointer, limits: HeadLimits, fields: FieldTable
  ) -> Result<RequestHead, HeadViolation> {
    do throws(HeadViolation) {
      return .success(try parseHead(head, limits, fields))
    } catch {
      return .failure(error)
    }
  }

  private static func parseHead(
    _ head: UnsafeRawBufferPointer, _ limits: HeadLimits, _ fields: FieldTable
  ) throws(HeadViolation) -> RequestHead {
    guard head.count <= limits.headBytesMax, head.count <= Int(UInt32.max) else { throw .headTooLarge }
    let line = try RequestLine.parse(head, limits)
    let section = try FieldSection.parse(head, from: line.end, limits: limits, fields: fields)
    if section.isChunked, line.minorVersion == 0 { throw .transferEncodingInHTTP10 }
    if let host = section.host {
      guard HostSyntax.isHostAndPort(head[host]) else { throw .hostInvalid }
    } else if line.minorVersion == 1 {
      throw .hostMissing
    }
    return RequestHead(
      method: ByteRange(line.method), knownMethod: RequestMethod(head.slice(line.method)),
      target: ByteRange(line.target), minorVersion: line.minorVersion, host: section.host,
      framing: framing(section), persistent: section.isPersistent(minorVersion: line.minorVersion),
      // An HTTP/1.0 client does not wait. RFC 9110 §10.1.1
      expectsContinue: section.continueExpected && line.minorVersion == 1,
      upgrade: section.upgradePresent && section.upgradeListed && line.minorVersion == 1,
      connectionNamesFields: section.otherOptionListed)
  }

  /// RFC 9112 §6.3
  private static func framing(_ section: FieldSection) -> BodyFraming {
    if section.isChunked { return .chunked }
    if let length = section.contentLength { return .length(length) }
    return .none
  }
}

/// `method SP request-target SP HTTP-version CRLF`. RFC 9112 §3
private struct RequestLine {
  var method: Range<Int>
  var target: Range<Int>
  var minorVersion: UInt8
  /// Where the field lines begin.
  var end: Int

  static func parse(_ head: UnsafeRawBufferPointer, _ limits: HeadLimits) throws(HeadViolation) -> RequestLine {
    var at = 0
    while at < head.count, ASCII.isTokenByte(head[at]) { at += 1 }
    guard at < head.count else { throw .unterminated }
    guard at > 0 else { throw head[0] == ASCII.carriageReturn || head[0] == ASCII.lineFeed ? .emptyStartLine : .method }
    guard head[at] == ASCII.space else { throw isLineByte(head[at]) ? .requestLine : .method }
    guard at <= HeadLimits.methodBytesMax else { throw .method }
    let method = 0..<at
    let targetStart = at + 1
    at = targetStart
    while at < head.count, head[at] &- 0x21 < 0x5E, head[at] != UInt8(ascii: "#") { at += 1 }
    guard at < head.count else { throw .unterminated }
    guard head[at] == ASCII.space else { throw isLineByte(head[at]) ? .requestLine : .target }
    guard at > targetStart else { throw .requestLine }
    let target = targetStart..<at
    at += 1
    // The bytes a second space or a missing version would leave here are not a version.
    if at < head.count, ASCII.isWhitespace(head[at]) || isLineByte(head[at]) { throw .requestLine }
    let minorVersion = try HTTPVersion.minor(head, at: at, refused: refusal(head, method, target, at))
    at += HTTPVersion.byteCount
    guard at + 1 < head.count else { throw .unterminated }
    guard head[at] == ASCII.carriageReturn, head[at + 1] == ASCII.lineFeed else {
      throw lineEndViolation(head[at])
    }
    guard target.count <= limits.targetBytesMax else { throw .targetTooLong }
    return RequestLine(method: method, target: target, minorVersion: minorVersion, end: at + 2)
  }

  private static func isLineByte(_ byte: UInt8) -> Bool {
    byte == ASCII.carriageReturn || byte == ASCII.lineFeed
  }

  private static func lineEndViolation(_ byte: UInt8) -> HeadViolation {
    switch byte {
    case ASCII.carriageReturn: .bareCarriageReturn
    case ASCII.lineFeed: .bareLineFeed
    case ASCII.space, ASCII.horizontalTab: .requestLine
    default: .version
    }
  }

  /// `PRI * HTTP/2.0` is how HTTP/2 with prior knowledge begins. RFC 9113 §3.4
  private static func refusal(
    _ head: UnsafeRawBufferPointer, _ method: Range<Int>, _ target: Range<Int>, _ at: Int
  ) -> HeadViolation {
    let isPreface =
      head.count >= at + 8 && head.slice(method).bytes(equal: "PRI") && head.slice(target).bytes(equal: "*")
      && head.slice(at..<at + 8).bytes(equal: "HTTP/2.0")
    return isPreface ? .http2Preface : .version
  }
}

/// `HTTP/1.0` or `HTTP/1.1`, nothing else. RFC 9112 §2.3
enum HTTPVersion {
  static let byteCount = 8

  /// The minor version of the version at `start`.
  @inline(__always)
  static func minor(
    _ head: UnsafeRawBufferPointer, at start: Int, refused: @autoclosure () -> HeadViolation
  ) throws(HeadViolation) -> UInt8 {
    guard head.count >= start + byteCount else { throw refused() }
    let prefix = WordScan.load(head, at: start) & 0x00FF_FFFF_FFFF_FFFF
    let digit = head[start + 7]
    // "HTTP/1." as a little-endian word.
    guard prefix == 0x002E_312F_5054_5448, digit == 0x30 || digit == 0x31 else { throw refused() }
    return digit & 1
  }
}
