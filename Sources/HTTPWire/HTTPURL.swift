/// An absolute `http` or `https` URL in canonical form: what is put on the wire, what `htu` says and what is compared.
///
/// Scheme and host are lower case, the default port is dropped, an empty path is `/`. Path and query bytes are kept as
/// they were: duplicate and trailing slashes, dot segments and percent-encodings mean what the server takes them for.
///
/// RFC 3986 §3, §6.2.3; RFC 9449 §4.3
package struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
  package static let bytesMax = 8_192

  package let origin: Origin
  /// Begins with `/`.
  package let path: String
  /// Without the `?`; nil when there is none, empty when nothing follows it.
  package let query: String?

  package var scheme: HTTPScheme { origin.scheme }
  /// Lower case; an IPv6 address without brackets.
  package var host: String { origin.host }
  package var port: UInt16 { origin.port }
  /// `host[:port]`, the default port dropped: the value of `Host`.
  package var authority: String { origin.authority }

  /// - Throws: `URLViolation` for anything but an http or https URL without user information and fragment.
  package init(parsing text: String) throws(URLViolation) {
    let bytes = Array(text.utf8)
    guard bytes.count <= HTTPURL.bytesMax else { throw .tooLong }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { throw .scheme }
    guard let scheme = HTTPScheme(rawValue: ASCII.lowercased(String(decoding: bytes[..<colon], as: UTF8.self))) else {
      throw .scheme
    }
    guard bytes[colon...].starts(with: "://".utf8) else { throw .authority }
    let authorityStart = colon + 3
    let end = bytes[authorityStart...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? bytes.count
    origin = try HTTPURL.origin(scheme, bytes[authorityStart..<end])
    (path, query) = try HTTPURL.pathAndQuery(bytes[end...])
  }

  private init(origin: Origin, path: String, query: String?) {
    self.origin = origin
    self.path = path
    self.query = query
  }

  /// The URL of another path on the same origin.
  ///
  /// - Parameter pathAndQuery: begins with `/`, or is empty.
  /// - Throws: `URLViolation`.
  package func replacing(pathAndQuery: String) throws(URLViolation) -> HTTPURL {
    guard pathAndQuery.isEmpty || pathAndQuery.utf8.first == UInt8(ascii: "/") else { throw .path }
    guard pathAndQuery.utf8.count <= HTTPURL.bytesMax else { throw .tooLong }
    let (path, query) = try HTTPURL.pathAndQuery(Array(pathAndQuery.utf8)[...])
    return HTTPURL(origin: origin, path: path, query: query)
  }

  /// Path and query as in a request line.
  package var requestTarget: String {
    query.map { "\(path)?\($0)" } ?? path
  }

  /// Without the query: what a log may show, and the `htu` of a proof.
  package var description: String { "\(origin)\(path)" }

  /// With the query.
  package var absoluteString: String { "\(origin)\(requestTarget)" }

  /// Whether `text`, from which `self` was parsed, ends behind its authority.
  func isOriginOnly(_ text: String) -> Bool {
    path == "/" && query == nil && text.utf8.last != UInt8(ascii: "/")
  }

  private static func origin(_ scheme: HTTPScheme, _ authority: ArraySlice<UInt8>) throws(URLViolation) -> Origin {
    guard !authority.contains(UInt8(ascii: "@")) else { throw .userInformation }
    var host = authority
    var port = scheme.defaultPort
    let bracket = authority.lastIndex(of: UInt8(ascii: "]"))
    guard bracket != nil || authority.first != UInt8(ascii: "[") else { throw .host }
    if let colon = authority[(bracket ?? authority.startIndex)...].firstIndex(of: UInt8(ascii: ":")) {
      host = authority[..<colon]
      let digits = authority[(colon + 1)...]
      guard (1...5).contains(digits.count), digits.allSatisfy({ ASCII.isDigit($0) }),
        let number = UInt16(String(decoding: digits, as: UTF8.self)), number > 0
      else { throw .port }
      port = number
    }
    guard let name = HostName(host) else { throw .host }
    return Origin(scheme: scheme, host: name.text, port: port)
  }

  private static func pathAndQuery(
    _ bytes: ArraySlice<UInt8>
  ) throws(URLViolation) -> (path: String, query: String?) {
    guard !bytes.contains(UInt8(ascii: "#")) else { throw .fragment }
    let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
    let path = bytes[..<mark]
    guard isValid(path) else { throw .path }
    let pathText = path.isEmpty ? "/" : String(decoding: path, as: UTF8.self)
    guard mark < bytes.endIndex else { return (pathText, nil) }
    let query = bytes[(mark + 1)...]
    guard isValid(query) else { throw .query }
    return (pathText, String(decoding: query, as: UTF8.self))
  }

  /// Visible ASCII but `" < > \ ^ backtick { | }`, and complete percent-encodings. RFC 3986 §3.3, §3.4
  private static func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
    var at = bytes.startIndex
    while at < bytes.endIndex {
      switch bytes[at] {
      case 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B...0x7D: return false
      case UInt8(ascii: "%"):
        guard at + 2 < bytes.endIndex, ASCII.hexValue(bytes[at + 1]) != nil, ASCII.hexValue(bytes[at + 2]) != nil
        else { return false }
      case 0x21...0x7E: break
      default: return false
      }
      at += 1
    }
    return true
  }
}

/// Why a text is not a URL proofd uses.
package enum URLViolation: Error, Equatable, Sendable {
  case scheme, authority, userInformation, host, port, path, query, fragment, tooLong, originHasPath

  /// One sentence; nothing of the text is in it.
  package var detail: StaticString {
    switch self {
    case .scheme: "The URL does not begin with http:// or https://."
    case .authority: "The scheme is not followed by //."
    case .userInformation: "The URL holds a user name or password."
    case .host: "The host is not a valid name or address (an internationalised name is written as its A-label)."
    case .port: "The port is not a number from 1 to 65535."
    case .path: "The path holds a byte that must be percent-encoded, or a '%' without two hexadecimal digits."
    case .query: "The query holds a byte that must be percent-encoded, or a '%' without two hexadecimal digits."
    case .fragment: "The URL has a fragment."
    case .tooLong: "The URL is too long."
    case .originHasPath: "An origin has no path, not even a slash."
    }
  }
}
