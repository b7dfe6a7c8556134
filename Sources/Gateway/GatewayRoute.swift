package import Credentials
package import HTTPWire
package import OAuth
import Tracing

/// One route as the data plane needs it: bytes ready to compare and to copy. Immutable, shared by all loops.
package final class GatewayRoute: Sendable {
  package let index: Int
  package let name: String
  /// `/orders`; `/` matches every path; nil is reachable by host only.
  let pathPrefix: [UInt8]?
  package let origin: Origin
  /// The upstream's `Host`.
  let authority: [UInt8]
  /// The upstream's base path, without a slash at its end unless it is one: `/v1/orders`, or empty for `/`.
  let basePath: [UInt8]
  /// The base path exactly as configured, for a request that leaves nothing to append.
  let wholeBasePath: [UInt8]
  /// What `htu` begins with in place of origin and base path (RFC 9449 §4.2).
  let htuBase: [UInt8]
  let htuWholeBase: [UInt8]
  let htuDecoded: Bool
  package let tokens: TokenSource?
  package let credentialName: String?
  let nonces: NonceCell?
  /// The clock of the upstream, for proofs; nil where none are made.
  let skew: ClockSkew?
  var needsProof: Bool { skew != nil }
  /// The credential never asks an issuer.
  let isStatic: Bool
  /// The name of the field a static credential sets, if it is not Authorization; as folded, see `FoldedName`.
  let injectedField: [UInt8]?
  /// Nil is every method but those that are never proxied.
  let methods: [[UInt8]]?
  let passAuthorization: Bool
  /// As folded, see `FoldedName`.
  let removedFields: [[UInt8]]
  let replayLimitBytes: Int
  /// Larger request bodies are refused.
  let bodyLimitBytes: UInt64
  let tokenTimeoutNanoseconds: UInt64
  let subject: RecordSubject
  /// Which of a loop's endpoints carries this route.
  let endpoint: Int

  package struct Definition {
    package var name: String
    package var path: String?
    package var upstream: HTTPURL
    package var htuBase: HTTPURL?
    package var htuDecoded = false
    package var tokens: TokenSource?
    package var credentialName: String?
    package var skew: ClockSkew?
    package var isStatic = false
    package var injectedField: String?
    package var methods: [String]?
    package var passAuthorization = false
    package var removedFields: [String] = []
    package var replayLimitBytes = 1 << 20
    package var bodyLimitBytes = UInt64.max
    package var tokenTimeout = Duration.seconds(10)
    package var endpoint: Int

    package init(name: String, path: String?, upstream: HTTPURL, endpoint: Int) {
      self.name = name
      self.path = path
      self.upstream = upstream
      self.endpoint = endpoint
    }
  }

  package init(_ definition: Definition, index: Int) {
    self.index = index
    name = definition.name
    pathPrefix = definition.path.map { Array($0.utf8) }
    origin = definition.upstream.origin
    authority = Array(definition.upstream.authority.utf8)
    (basePath, wholeBasePath) = Self.base(definition.upstream.path)
    let seen = definition.htuBase ?? definition.upstream
    let seenBase = Self.base(seen.path)
    let seenOrigin = Array("\(seen.scheme.rawValue)://\(seen.authority)".utf8)
    htuBase = seenOrigin + seenBase.trimmed
    htuWholeBase = seenOrigin + seenBase.whole
    htuDecoded = definition.htuDecoded
    tokens = definition.tokens
    credentialName = definition.credentialName
    nonces = definition.tokens?.nonceCell(origin: definition.upstream.origin)
    skew = definition.skew
    isStatic = definition.isStatic
    injectedField = definition.injectedField.map { FoldedName.bytes($0) }
    methods = definition.methods?.map { Array($0.utf8) }
    passAuthorization = definition.passAuthorization
    removedFields = definition.removedFields.map { FoldedName.bytes($0) }
    replayLimitBytes = definition.replayLimitBytes
    bodyLimitBytes = definition.bodyLimitBytes
    tokenTimeoutNanoseconds = UInt64(max(0, definition.tokenTimeout.nanoseconds))
    endpoint = definition.endpoint
    subject = RecordSubject(
      route: LogLabel(name), credential: credentialName.map { LogLabel($0) },
      upstream: LogLabel(url: definition.upstream.description))
  }

  private static func base(_ path: String) -> (trimmed: [UInt8], whole: [UInt8]) {
    let whole = Array(path.utf8)
    return (whole.last == UInt8(ascii: "/") ? Array(whole.dropLast()) : whole, whole)
  }

  /// How many bytes of `path` the route's prefix takes, segment-wise; nil when it does not match.
  func matchedBytes(of path: UnsafeRawBufferPointer) -> Int? {
    guard let pathPrefix else { return nil }
    if pathPrefix.count == 1 { return 0 }
    guard path.count >= pathPrefix.count else { return nil }
    for index in 0..<pathPrefix.count where path[index] != pathPrefix[index] { return nil }
    return path.count == pathPrefix.count || path[pathPrefix.count] == UInt8(ascii: "/") ? pathPrefix.count : nil
  }

  func allows(method: UnsafeRawBufferPointer) -> Bool {
    methods?.contains { $0.count == method.count && method.elementsEqual($0) } ?? true
  }
}

/// All routes of one configuration.
package struct RouteTable: Sendable {
  package let routes: [GatewayRoute]
  /// Longest path first: the first match wins.
  private let byPath: [GatewayRoute]

  package init(_ routes: [GatewayRoute]) {
    self.routes = routes
    byPath = routes.filter { $0.pathPrefix != nil }
      .sorted { ($0.pathPrefix?.count ?? 0) > ($1.pathPrefix?.count ?? 0) }
  }

  /// The route for a raw path and how many bytes of it are stripped.
  func match(path: UnsafeRawBufferPointer) -> (route: GatewayRoute, strippedBytes: Int)? {
    for index in byPath.indices {
      if let count = byPath[index].matchedBytes(of: path) { return (byPath[index], count) }
    }
    return nil
  }
}
