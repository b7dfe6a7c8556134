import Cryptography
import HTTPWire

/// What every send of one request has in common: the request line's parts and the fields that pass, rebuilt from the
/// client's head once and copied for each send (design §4.4).
///
/// Nothing of the client's framing or of its connection survives: those fields are written anew.
struct RequestTemplate: ~Copyable {
  private var bytes = ByteBuffer()
  private var method = ByteRange(0..<0)
  private var localTarget = ByteRange(0..<0)
  private var path = ByteRange(0..<0)
  private var query: ByteRange?
  private var htu = ByteRange(0..<0)
  private var fields = ByteRange(0..<0)
  private(set) var framing = BodyFraming.none

  /// Builds the rest of the template, whose method and target were noted.
  ///
  /// - Parameters:
  ///   - path, query: the local target's parts; the first `strippedBytes` of the path are the route's prefix.
  ///   - withProofTarget: whether a send may carry a proof, which names its target.
  mutating func build(
    _ head: RequestHead, in source: UnsafeRawBufferPointer, fields table: FieldTable, path localPath: ByteRange,
    query localQuery: ByteRange?, strippedBytes: Int, route: GatewayRoute, withProofTarget: Bool
  ) {
    framing = head.framing
    let rest = source[localPath].slice(strippedBytes..<Int(localPath.count))
    path = add { Self.appendPath(base: route.basePath, whole: route.wholeBasePath, rest: rest, to: &$0) }
    // The query is the target's last part, which is here already.
    query = localQuery.map { ByteRange(localTarget.range.upperBound - Int($0.count)..<localTarget.range.upperBound) }
    htu = withProofTarget ? addProofTarget(rest, route) : ByteRange(0..<0)
    fields = add { buffer in
      buffer.append("Host: ")
      buffer.append(route.authority)
      buffer.append("\r\n")
      var lines = FieldLineCopy(from: source)
      var concernsTrailers = false
      for index in 0..<table.count {
        let field = table[index]
        let name = source[field.name]
        guard Self.passes(field.id, route),
          !(head.connectionNamesFields && table.isConnectionOption(name, in: source)),
          !Self.isRemoved(name, route),
          !(table.hasUnusualNames && Self.isRemovedFolded(name, route))
        else {
          if field.id == .te || field.id == .trailer { concernsTrailers = true }
          continue
        }
        lines.add(field, to: &buffer)
      }
      lines.finish(to: &buffer)
      if concernsTrailers {
        TrailerFields.appendWishes(of: head, table, in: source, to: &buffer) { Self.isRemovedInAnySpelling($0, route) }
      }
      switch head.framing {
      case .length(let count):
        buffer.append("Content-Length: ")
        buffer.append(decimal: count)
        buffer.append("\r\n")
      case .chunked: buffer.append("Transfer-Encoding: chunked\r\n")
      case .none, .untilClose: break
      }
    }
  }

  private mutating func addProofTarget(_ rest: UnsafeRawBufferPointer, _ route: GatewayRoute) -> ByteRange {
    add { buffer in
      if route.htuDecoded {
        var encoded = ByteBuffer()
        Self.appendPath(base: route.htuBase, whole: route.htuWholeBase, rest: rest, to: &encoded)
        encoded.withUnsafeBytes { Self.appendDecoded($0, to: &buffer) }
      } else {
        Self.appendPath(base: route.htuBase, whole: route.htuWholeBase, rest: rest, to: &buffer)
      }
    }
  }

  /// Begins with what the log needs even of a request that is refused before it has a route.
  mutating func note(method: UnsafeRawBufferPointer, target: UnsafeRawBufferPointer, pool: BlockPool) {
    bytes.takeStorage(from: pool)
    bytes.removeAll()
    self.method = add { $0.append(method) }
    localTarget = add { $0.append(target) }
  }

  /// Gives its memory back; the method and the target are gone, too.
  mutating func release(to pool: BlockPool) { bytes.release(to: pool) }

  private mutating func add(_ append: (inout ByteBuffer) -> Void) -> ByteRange {
    let start = bytes.count
    append(&bytes)
    return ByteRange(start..<bytes.count)
  }

  /// Base and rest with exactly one slash between them; nothing else of the rest is touched.
  private static func appendPath(
    base: [UInt8], whole: [UInt8], rest: UnsafeRawBufferPointer, to buffer: inout ByteBuffer
  ) {
    guard !rest.isEmpty else { return buffer.append(whole) }
    buffer.append(base)
    if rest[0] != UInt8(ascii: "/") { buffer.append(byte: UInt8(ascii: "/")) }
    buffer.append(rest)
  }

  private static func appendDecoded(_ encoded: UnsafeRawBufferPointer, to buffer: inout ByteBuffer) {
    var at = 0
    while at < encoded.count {
      if encoded[at] == UInt8(ascii: "%"), at + 2 < encoded.count, let high = ASCII.hexValue(encoded[at + 1]),
        let low = ASCII.hexValue(encoded[at + 2])
      {
        buffer.append(byte: high << 4 | low)
        at += 3
      } else {
        buffer.append(byte: encoded[at])
        at += 1
      }
    }
  }

  /// Hop-by-hop (RFC 9110 §7.6.1), forwarding (an upstream that honours it would compute another `htu`) and
  /// authentication fields stay here.
  static func passes(_ id: FieldID, _ route: GatewayRoute) -> Bool {
    switch id {
    case .host, .connection, .contentLength, .transferEncoding, .te, .trailer, .upgrade, .keepAlive, .expect,
      .proxyConnection, .proxyAuthorization, .proxyAuthenticate, .proxyAuthenticationInfo, .dpop, .dpopNonce,
      .forwarded, .xForwarded, .proofd:
      false
    case .authorization: route.passAuthorization
    default: true
    }
  }

  /// Whether a name of letters, digits and hyphens is not to pass on this route.
  static func isRemoved(_ name: UnsafeRawBufferPointer, _ route: GatewayRoute) -> Bool {
    // How some servers are told another URL than the one in the request line.
    if name.bytes(equalCaseInsensitively: "x-original-url") || name.bytes(equalCaseInsensitively: "x-rewrite-url") {
      return true
    }
    if let injectedField = route.injectedField,
      injectedField.withUnsafeBytes({ name.bytes(equalCaseInsensitively: $0) })
    {
      return true
    }
    guard !route.removedFields.isEmpty else { return false }
    return route.removedFields.contains { removed in
      removed.withUnsafeBytes { name.bytes(equalCaseInsensitively: $0) }
    }
  }

  // MARK: For each send and the log

  func withMethod<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { bytes.withUnsafeBytes { body($0[method]) } }
  func withLocalTarget<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    bytes.withUnsafeBytes { body($0[localTarget]) }
  }
  /// The `htm` and `htu` of a proof.
  func withProofTarget<R>(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> R) -> R {
    bytes.withUnsafeBytes { body($0[method], $0[htu]) }
  }

  /// Appends the request line and all fields but the credential's, without the empty line.
  ///
  /// - Parameter credentialQuery: `name=value` to add to the query, or nil.
  func append(to output: inout ByteBuffer, credentialQuery: Secret?) {
    bytes.withUnsafeBytes { all in
      output.append(all[method])
      output.append(byte: 0x20)
      output.append(all[path])
      if let query {
        output.append(byte: UInt8(ascii: "?"))
        output.append(all[query])
      }
      if let credentialQuery {
        output.append(byte: query == nil ? UInt8(ascii: "?") : UInt8(ascii: "&"))
        credentialQuery.withUnsafeBytes { output.append($0) }
      }
      output.append(" HTTP/1.1\r\n")
      output.append(all[fields])
    }
  }
}
