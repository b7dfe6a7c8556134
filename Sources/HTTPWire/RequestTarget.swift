/// A request target taken apart. Path and query are ranges of the bytes as sent: nothing is decoded or normalised.
///
/// In a path a `%` must be followed by two hexadecimal digits: what else it might mean differs from server to server. A
/// query is passed as it is. RFC 9112 §3.2
package enum RequestTarget: Equatable, Sendable {
  /// `/path?query`; the query is without its `?`, nil when there is none.
  case origin(path: ByteRange, query: ByteRange?)
  /// `scheme://authority/path?query`. The path is empty where the sender left it out. The authority equals `Host`.
  case absolute(scheme: ByteRange, authority: ByteRange, path: ByteRange, query: ByteRange?)
  /// `host:port`, for CONNECT only.
  case authority(ByteRange)
  /// `*`, for OPTIONS only.
  case asterisk

  /// Classifies the target of `request`, whose head is `head`.
  package static func parse(
    _ head: UnsafeRawBufferPointer, of request: RequestHead
  ) -> Result<RequestTarget, HeadViolation> {
    do throws(HeadViolation) {
      return .success(try classify(head, request))
    } catch {
      return .failure(error)
    }
  }

  private static func classify(
    _ head: UnsafeRawBufferPointer, _ request: RequestHead
  ) throws(HeadViolation) -> RequestTarget {
    let range = request.target.range
    if request.knownMethod == .connect {
      guard HostSyntax.isHostAndPort(head[request.target]) else { throw .targetForm }
      return .authority(request.target)
    }
    if head[range.lowerBound] == UInt8(ascii: "/") {
      let (path, query) = try split(head, range)
      return .origin(path: path, query: query)
    }
    if request.knownMethod == .options, head[request.target].bytes(equal: "*") { return .asterisk }
    return try absolute(head, range, host: request.host)
  }

  /// RFC 9112 §3.2.2. Which of two different authorities counts could be read two ways: refused.
  private static func absolute(
    _ head: UnsafeRawBufferPointer, _ range: Range<Int>, host: ByteRange?
  ) throws(HeadViolation) -> RequestTarget {
    var at = range.lowerBound
    while at < range.upperBound, isSchemeByte(head[at]) { at += 1 }
    guard at > range.lowerBound, ASCII.isLetter(head[range.lowerBound]), at + 3 <= range.upperBound,
      head.slice(at..<at + 3).bytes(equal: "://")
    else { throw .targetForm }
    let scheme = ByteRange(range.lowerBound..<at)
    let authorityStart = at + 3
    at = authorityStart
    while at < range.upperBound, head[at] != UInt8(ascii: "/"), head[at] != UInt8(ascii: "?") { at += 1 }
    let authority = ByteRange(authorityStart..<at)
    guard HostSyntax.isHostAndPort(head[authority]) else { throw .targetForm }
    if let host, !head[host].bytes(equalCaseInsensitively: head[authority]) { throw .hostMismatch }
    let (path, query) = try split(head, at..<range.upperBound)
    return .absolute(scheme: scheme, authority: authority, path: path, query: query)
  }

  private static func split(
    _ head: UnsafeRawBufferPointer, _ range: Range<Int>
  ) throws(HeadViolation) -> (path: ByteRange, query: ByteRange?) {
    var at = range.lowerBound
    while at < range.upperBound, head[at] != UInt8(ascii: "?") {
      if head[at] == UInt8(ascii: "%") {
        guard at + 2 < range.upperBound, ASCII.hexValue(head[at + 1]) != nil, ASCII.hexValue(head[at + 2]) != nil
        else { throw .targetPercentEncoding }
      }
      at += 1
    }
    let query = at < range.upperBound ? ByteRange(at + 1..<range.upperBound) : nil
    return (ByteRange(range.lowerBound..<at), query)
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E
  }
}

/// Looks for `.` and `..` segments, so that a gateway can refuse a path that would climb out of a route's base path.
package enum DotSegments {
  /// Whether `path` (raw, without query) has a segment that some server would resolve as `.` or `..`.
  ///
  /// Dots count also percent-encoded (`%2e`), separators also as `\`, `%2F` and `%5C`, and a path parameter behind the
  /// dots does not hide them (`..;a`): which of these a server honours is its own affair. RFC 3986 §5.2.4, §6.2.2.3
  package static func isPresent(in path: UnsafeRawBufferPointer) -> Bool {
    guard mayBePresent(in: path) else { return false }
    var at = 0
    var dotCount = 0
    var isOnlyDots = true
    while at < path.count {
      let (byte, length) = decoded(path, at)
      at += length
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "\\"):
        if isOnlyDots, dotCount == 1 || dotCount == 2 { return true }
        dotCount = 0
        isOnlyDots = true
      case UInt8(ascii: ";"):
        if isOnlyDots, dotCount == 1 || dotCount == 2 { return true }
        isOnlyDots = false
      case UInt8(ascii: "."): dotCount += 1
      default: isOnlyDots = false
      }
    }
    return isOnlyDots && (dotCount == 1 || dotCount == 2)
  }

  /// Whether there is a dot at all, or a percent-encoding that may be one.
  private static func mayBePresent(in path: UnsafeRawBufferPointer) -> Bool {
    var at = 0
    while at &+ 8 <= path.count {
      let word = WordScan.load(path, at: at)
      let found = WordScan.bytesEqual(word, to: UInt8(ascii: ".")) | WordScan.bytesEqual(word, to: UInt8(ascii: "%"))
      if found != 0 { return true }
      at &+= 8
    }
    while at < path.count {
      if path[at] == UInt8(ascii: ".") || path[at] == UInt8(ascii: "%") { return true }
      at &+= 1
    }
    return false
  }

  @inline(__always)
  private static func decoded(_ path: UnsafeRawBufferPointer, _ at: Int) -> (byte: UInt8, length: Int) {
    guard path[at] == UInt8(ascii: "%"), at + 2 < path.count, let high = ASCII.hexValue(path[at + 1]),
      let low = ASCII.hexValue(path[at + 2])
    else { return (path[at], 1) }
    return (high << 4 | low, 3)
  }
}
