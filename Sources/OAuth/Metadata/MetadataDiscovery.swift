package import HTTPWire

/// Finds an issuer's metadata: which URL to ask next, and what an answer is worth. Pure.
///
/// ```swift
/// var discovery = MetadataDiscovery(issuer)
/// while let request = discovery.nextRequest() { discovery.judge(await result(of: request)) }
/// let metadata = try discovery.metadata()
/// ```
/// RFC 8414 §3, OpenID Connect Discovery 1.0 §4
package struct MetadataDiscovery {
  private let issuer: Issuer
  private var candidates: [HTTPURL]
  private var found: AuthorizationServerMetadata?
  private var failure: MetadataFailure?

  package init(_ issuer: Issuer) {
    self.issuer = issuer
    candidates = issuer.metadataURLs
  }

  /// The next request, or nil when it is over.
  package mutating func nextRequest() -> HTTPRequest? {
    guard found == nil, !candidates.isEmpty else { return nil }
    let url = candidates.removeFirst()
    return HTTPRequest(method: "GET", url: url, fields: [HTTPField(name: "Accept", value: "application/json")])
  }

  package mutating func judge(_ result: Result<HTTPResponse, HTTPSendFailure>) {
    switch result {
    case .failure(let failure):
      // The other places are on the same server.
      note(.unreachable(failure))
      candidates = []
    case .success(let response) where response.status == 200: judge(body: response.body)
    case .success(let response) where response.status == 429 || response.status >= 500:
      note(.unavailable(status: response.status, retryAfter: EndpointError.retryAfter(of: response)))
      if response.status == 429 { candidates = [] }
    case .success(let response): note(.notFound(status: response.status))
    }
  }

  private mutating func judge(body: [UInt8]) {
    do {
      found = try AuthorizationServerMetadata(parsing: body, issuer: issuer)
    } catch {
      note(.defect(error))
    }
  }

  /// Keeps the failure that says most.
  private mutating func note(_ new: MetadataFailure) {
    if new.weight > failure?.weight ?? -1 { failure = new }
  }

  /// - Throws: ``MetadataFailure``, the one of all places that says most.
  package func metadata() throws(MetadataFailure) -> AuthorizationServerMetadata {
    guard let found else { throw failure ?? .notFound(status: 404) }
    return found
  }
}

/// Why an issuer's metadata could not be had.
package enum MetadataFailure: Error, Sendable, Equatable {
  /// There is nothing at the well-known places.
  case notFound(status: Int)
  /// There is something, and it is of no use.
  case defect(MetadataDefect)
  case unavailable(status: Int, retryAfter: Duration?)
  case unreachable(HTTPSendFailure)

  fileprivate var weight: Int {
    switch self {
    case .notFound: 0
    case .defect(.notJSON): 1  // the page that web servers answer everything with
    case .unavailable: 2
    case .defect: 3
    case .unreachable: 4
    }
  }

  package var isTransient: Bool {
    switch self {
    case .notFound, .defect: false
    case .unavailable, .unreachable: true
    }
  }
}
