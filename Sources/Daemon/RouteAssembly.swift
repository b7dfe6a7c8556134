import Configuration
import Credentials
import EventLoop
import Gateway
import HTTPTransport
import HTTPWire
import OAuth

/// Routes and their upstreams, as the data plane takes them, from the configuration.
struct RouteAssembly {
  private struct EndpointKey: Hashable {
    let origin: Origin
    let tls: UpstreamTLS
    let connect: Duration
    let response: Duration
  }

  private(set) var routes: [GatewayRoute] = []
  private(set) var endpoints: [EndpointDefinition] = []
  private var endpointIndex: [EndpointKey: Int] = [:]

  /// - Parameters:
  ///   - credentials: what the routes' credentials became.
  ///   - skews: the clocks learned, shared with the token requests.
  init(
    _ configuration: Configuration, credentials: CredentialAssembly, skews: ClockSkewTable, trust: inout TrustStore
  ) throws(DaemonError) {
    for route in configuration.routes {
      var definition = GatewayRoute.Definition(
        name: route.name, path: route.path, upstream: route.upstream,
        endpoint: try endpoint(for: route, configuration, &trust))
      definition.htuBase = route.htuBase
      definition.htuDecoded = route.htuPath == .decoded
      definition.methods = route.methods
      definition.passAuthorization = route.passAuthorization
      definition.removedFields = route.removeHeaders
      definition.replayLimitBytes = route.replayLimitBytes
      if let limit = route.bodyLimitBytes { definition.bodyLimitBytes = UInt64(limit) }
      definition.tokenTimeout = route.timeouts.token
      if let credential = route.credential, let profile = configuration.credential(named: credential.name) {
        definition.credentialName = credential.reference.description
        guard let source = credentials.source(for: credential) else {
          throw .credential(name: credential.name, reason: "has no source for the route \(route.name)")
        }
        definition.tokens = source
        if profile.usesDPoP { definition.skew = skews.skew(of: route.upstream.origin) }
        if case .fixed(let fixed) = profile.kind {
          definition.isStatic = true
          if case .field(let name, _) = fixed.placement { definition.injectedField = name }
        }
      }
      routes.append(GatewayRoute(definition, index: routes.count))
    }
  }

  /// Routes to the same origin with the same trust and patience share connections.
  private mutating func endpoint(
    for route: RouteConfiguration, _ configuration: Configuration, _ trust: inout TrustStore
  ) throws(DaemonError) -> Int {
    let key = EndpointKey(
      origin: route.upstream.origin, tls: route.tls, connect: route.timeouts.connect, response: route.timeouts.response)
    if let known = endpointIndex[key] { return known }
    let tls =
      key.origin.scheme == .https
      ? try trust.context(route.tls.certificateAuthorityFile, for: "routes.\(route.name).tls.ca") : nil
    var definition = EndpointDefinition(origin: key.origin, tls: tls, serverName: route.tls.serverName)
    definition.limits.idleMax = configuration.limits.idleUpstreamConnectionsMax
    definition.limits.idleNanoseconds = configuration.timeouts.idleUpstream.unsignedNanoseconds
    definition.limits.connectNanoseconds = route.timeouts.connect.unsignedNanoseconds
    definition.limits.sendNanoseconds = configuration.timeouts.send.unsignedNanoseconds
    definition.limits.responseHeadNanoseconds = route.timeouts.response.unsignedNanoseconds
    endpoints.append(definition)
    endpointIndex[key] = endpoints.count - 1
    return endpoints.count - 1
  }
}

extension Duration {
  var unsignedNanoseconds: UInt64 { UInt64(Swift.max(0, nanoseconds)) }
}
