/// The field names the gateway acts on; everything else is `other`.
@usableFromInline
package enum FieldID: UInt8, Sendable {
  case other = 0
  // Framing and hop-by-hop
  case host, connection, contentLength, transferEncoding, te, trailer, upgrade, keepAlive, expect, via
  case proxyConnection, proxyAuthorization, proxyAuthenticate, proxyAuthenticationInfo
  // Authentication
  case authorization, dpop, dpopNonce, wwwAuthenticate, authenticationInfo
  // Who asks, and from where
  case origin, referer, secFetchSite, secFetchMode, secFetchDest, userAgent
  case forwarded
  /// Any `X-Forwarded-…`.
  case xForwarded
  /// Any `Proofd-…`.
  case proofd
  /// Any `Access-Control-…`.
  case accessControl
  // Content and state
  case accept, acceptEncoding, contentType, contentEncoding, contentLocation, contentRange, range
  case cookie, setCookie, date, location, refresh, retryAfter, cacheControl, server

  /// Recognises `name` (token bytes) by its length, then its bytes, in any case.
  package init(name: UnsafeRawBufferPointer) {
    self = FieldID.recognise(name)
  }

  private static func recognise(_ name: UnsafeRawBufferPointer) -> FieldID {
    @inline(__always)
    func isName(_ literal: StaticString) -> Bool { tokenMatches(name, literal) }
    switch name.count {
    case 2: if isName("te") { return .te }
    case 3: if isName("via") { return .via }
    case 4:
      if isName("host") { return .host }
      if isName("dpop") { return .dpop }
      if isName("date") { return .date }
    case 5: if isName("range") { return .range }
    case 6:
      if isName("accept") { return .accept }
      if isName("cookie") { return .cookie }
      if isName("origin") { return .origin }
      if isName("expect") { return .expect }
      if isName("server") { return .server }
    case 7:
      if isName("upgrade") { return .upgrade }
      if isName("referer") { return .referer }
      if isName("trailer") { return .trailer }
      if isName("refresh") { return .refresh }
    case 8: if isName("location") { return .location }
    case 9: if isName("forwarded") { return .forwarded }
    case 10:
      if isName("connection") { return .connection }
      if isName("user-agent") { return .userAgent }
      if isName("set-cookie") { return .setCookie }
      if isName("keep-alive") { return .keepAlive }
      if isName("dpop-nonce") { return .dpopNonce }
    case 11: if isName("retry-after") { return .retryAfter }
    case 12: if isName("content-type") { return .contentType }
    case 13:
      if isName("authorization") { return .authorization }
      if isName("cache-control") { return .cacheControl }
      if isName("content-range") { return .contentRange }
    case 14:
      if isName("content-length") { return .contentLength }
      if isName("sec-fetch-site") { return .secFetchSite }
      if isName("sec-fetch-mode") { return .secFetchMode }
      if isName("sec-fetch-dest") { return .secFetchDest }
    case 15: if isName("accept-encoding") { return .acceptEncoding }
    case 16:
      if isName("content-encoding") { return .contentEncoding }
      if isName("content-location") { return .contentLocation }
      if isName("www-authenticate") { return .wwwAuthenticate }
      if isName("proxy-connection") { return .proxyConnection }
    case 17: if isName("transfer-encoding") { return .transferEncoding }
    case 18: if isName("proxy-authenticate") { return .proxyAuthenticate }
    case 19:
      if isName("proxy-authorization") { return .proxyAuthorization }
      if isName("authentication-info") { return .authenticationInfo }
    case 25: if isName("proxy-authentication-info") { return .proxyAuthenticationInfo }
    default: break
    }
    return recogniseFamily(name)
  }

  private static func recogniseFamily(_ name: UnsafeRawBufferPointer) -> FieldID {
    guard name.count >= 7 else { return .other }
    switch name[0] | 0x20 {
    case UInt8(ascii: "x"): return name.bytes(startCaseInsensitivelyWith: "x-forwarded-") ? .xForwarded : .other
    case UInt8(ascii: "p"): return name.bytes(startCaseInsensitivelyWith: "proofd-") ? .proofd : .other
    case UInt8(ascii: "a"): return name.bytes(startCaseInsensitivelyWith: "access-control-") ? .accessControl : .other
    default: return .other
    }
  }

  /// Compares token bytes with a lower-case literal of the same length. Among token bytes `| 0x20` maps nothing but a
  /// letter onto a letter, and nothing but `-` onto `-`.
  @inline(__always)
  private static func tokenMatches(_ name: UnsafeRawBufferPointer, _ literal: StaticString) -> Bool {
    let length = literal.utf8CodeUnitCount
    let expected = UnsafeRawBufferPointer(start: literal.utf8Start, count: length)
    guard length >= 8 else {
      for index in 0..<length where name[index] | 0x20 != expected[index] { return false }
      return true
    }
    var index = 0
    while index &+ 8 <= length {
      if foldedWord(name, at: index) != WordScan.load(expected, at: index) { return false }
      index &+= 8
    }
    return foldedWord(name, at: length &- 8) == WordScan.load(expected, at: length &- 8)
  }

  @inline(__always)
  private static func foldedWord(_ name: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    WordScan.load(name, at: offset) | WordScan.ones &* 0x20
  }
}
