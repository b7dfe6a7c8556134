/// A response head that was parsed as strictly as a request's.
package struct ResponseHead: Sendable {
  /// 100 to 599.
  package var status: UInt16
  package var reason: ByteRange
  /// 0 or 1.
  package var minorVersion: UInt8
  package var framing: BodyFraming
  /// The value of `Content-Length`, also where no content follows (an answer to HEAD, 304).
  package var declaredLength: UInt64?
  /// Whether the connection can be used again after this response: never after `untilClose` content.
  package var persistent: Bool
  /// Whether the server agreed to switch protocols: 101 with an `Upgrade` field that `Connection` lists.
  package var upgrade: Bool
  /// See `RequestHead.connectionNamesFields`.
  package var connectionNamesFields: Bool

  /// 1xx other than 101: another head follows for the same request. RFC 9110 §15.2
  package var isInterim: Bool { status < 200 && status != 101 }

  /// Parses a whole response head.
  ///
  /// - Parameters:
  ///   - head: the bytes up to and including the empty line.
  ///   - fields: filled with the fields; what it held before is dropped.
  ///   - requestMethodIsHEAD: an answer to HEAD has no content, whatever its fields say.
  ///
  /// RFC 9112 §4, §6.3
  package static func parse(
    _ head: UnsafeRawBufferPointer, limits: HeadLimits, fields: FieldTable, requestMethodIsHEAD: Bool
  ) -> Result<ResponseHead, HeadViolation> {
    do throws(HeadViolation) {
      return .success(try parseHead(head, limits, fields, requestMethodIsHEAD))
    } catch {
      return .failure(error)
    }
  }

  private static func parseHead(
    _ head: UnsafeRawBufferPointer, _ limits: HeadLimits, _ fields: FieldTable, _ requestMethodIsHEAD: Bool
  ) throws(HeadViolation) -> ResponseHead {
    guard head.count <= limits.headBytesMax, head.count <= Int(UInt32.max) else { throw .headTooLarge }
    let line = try StatusLine.parse(head)
    let section = try FieldSection.parse(head, from: line.end, limits: limits, fields: fields)
    if section.isChunked, line.minorVersion == 0 { throw .transferEncodingInHTTP10 }
    let framing = try framing(status: line.status, section, requestMethodIsHEAD)
    return ResponseHead(
      status: line.status, reason: ByteRange(line.reason), minorVersion: line.minorVersion, framing: framing,
      declaredLength: section.contentLength,
      persistent: framing != .untilClose && section.isPersistent(minorVersion: line.minorVersion),
      upgrade: line.status == 101 && section.upgradePresent && section.upgradeListed && line.minorVersion == 1,
      connectionNamesFields: section.otherOptionListed)
  }

  /// RFC 9112 §6.3, RFC 9110 §8.6. A 1xx or 204 that announces content leaves open whether it follows: refused.
  private static func framing(
    status: UInt16, _ section: FieldSection, _ requestMethodIsHEAD: Bool
  ) throws(HeadViolation) -> BodyFraming {
    if status < 200 || status == 204 {
      guard !section.isChunked, section.contentLength ?? 0 == 0 else { throw .contentNotAllowed }
      return .none
    }
    if status == 304 || requestMethodIsHEAD { return .none }
    if section.isChunked { return .chunked }
    if let length = section.contentLength { return .length(length) }
    return .untilClose
  }
}

/// `HTTP-version SP status-code SP [reason-phrase] CRLF`. RFC 9112 §4
///
/// The second space may be missing when there is no reason: many servers omit it, and it cannot be read two ways.
private struct StatusLine {
  var status: UInt16
  var reason: Range<Int>
  var minorVersion: UInt8
  /// Where the field lines begin.
  var end: Int

  static func parse(_ head: UnsafeRawBufferPointer) throws(HeadViolation) -> StatusLine {
    let minorVersion = try HTTPVersion.minor(head, at: 0, refused: refusal(head))
    var at = HTTPVersion.byteCount
    guard at + 5 < head.count else { throw .statusLine }
    guard head[at] == ASCII.space, ASCII.isDigit(head[at + 1]), ASCII.isDigit(head[at + 2]),
      ASCII.isDigit(head[at + 3])
    else { throw .statusLine }
    let status =
      UInt16(head[at + 1] & 0x0F) * 100 + UInt16(head[at + 2] & 0x0F) * 10 + UInt16(head[at + 3] & 0x0F)
    at += 4
    let isFollowed = head[at] == ASCII.space
    guard isFollowed || head[at] == ASCII.carriageReturn else {
      throw head[at] == ASCII.lineFeed ? .bareLineFeed : .statusLine
    }
    if isFollowed { at += 1 }
    let reasonStart = at
    at = FieldSection.endOfValue(head, from: at)
    guard at + 1 < head.count else { throw .unterminated }
    guard head[at] == ASCII.carriageReturn else {
      throw head[at] == ASCII.lineFeed ? .bareLineFeed : .statusLine
    }
    guard head[at + 1] == ASCII.lineFeed else { throw .bareCarriageReturn }
    guard (100...599).contains(status) else { throw .status }
    return StatusLine(status: status, reason: reasonStart..<at, minorVersion: minorVersion, end: at + 2)
  }

  private static func refusal(_ head: UnsafeRawBufferPointer) -> HeadViolation {
    if let first = head.first, first == ASCII.carriageReturn || first == ASCII.lineFeed { return .emptyStartLine }
    return head.count >= 5 && head.slice(0..<5).bytes(equal: "HTTP/") ? .version : .notHTTP
  }
}
