/// Where the gateway accepts connections.
package enum ListenAddress: Sendable, Hashable {
  /// A loopback address, IPv6 without brackets; port 0 lets the system choose.
  case tcp(host: String, port: UInt16)
  /// An absolute path.
  case unix(path: String)

  /// Why a text is no listen address, or not one this version serves.
  package enum Violation: Error, Sendable, Equatable {
    case malformed
    case bareIPv6
    case port
    case hostName
    case notLoopback
    case unixPath
  }

  /// The longest path of a UNIX-domain socket on Linux, unix(7).
  package static let unixPathBytesMax = 107

  /// Parses `127.0.0.1:9449`, `localhost:9449` (the same), `[::1]:9449` or `unix:/path`.
  ///
  /// - Throws: `Violation`; every address but a loopback one is refused, because callers can't be told apart by key yet.
  package init(parsing text: String) throws(Violation) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      guard path.hasPrefix("/"), path.utf8.count <= Self.unixPathBytesMax, !path.utf8.contains(0) else {
        throw .unixPath
      }
      self = .unix(path: path)
      return
    }
    guard let colon = text.lastIndex(of: ":") else { throw .malformed }
    let host = text[..<colon]
    guard let port = ScalarFormat.integer(text[text.index(after: colon)...]).flatMap(UInt16.init(exactly:)) else {
      throw .port
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      guard host == "[::1]" else { throw .notLoopback }
      self = .tcp(host: "::1", port: port)
      return
    }
    guard !host.contains(":") else { throw .bareIPv6 }
    guard host != "localhost" else {
      self = .tcp(host: "127.0.0.1", port: port)
      return
    }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4, parts.allSatisfy({ Self.isOctet($0) }) else {
      throw host.isEmpty || host == "*" ? .notLoopback : .hostName
    }
    guard parts[0] == "127" else { throw .notLoopback }
    self = .tcp(host: String(host), port: port)
  }

  private static func isOctet(_ text: Substring) -> Bool {
    guard let value = ScalarFormat.integer(text), text.count == 1 || !text.hasPrefix("0") else { return false }
    return value <= 255
  }
}

extension ListenAddress: CustomStringConvertible {
  /// As the configuration spells it.
  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    }
  }
}
