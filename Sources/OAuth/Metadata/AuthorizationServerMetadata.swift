package import HTTPWire

/// What an authorization server says of itself. RFC 8414 §2, OpenID Connect Discovery 1.0 §3
///
/// Members that are absent, null or of the wrong type are the same. What a server says it supports is advice only: servers
/// leave out grants they have, and the endpoint itself knows best. What is said about proofs is believed.
package struct AuthorizationServerMetadata: Sendable, Equatable {
  package let issuer: String
  package let tokenEndpoint: HTTPURL
  package let revocationEndpoint: HTTPURL?
  package let introspectionEndpoint: HTTPURL?
  /// OpenID Connect Discovery 1.0 §3
  package let userinfoEndpoint: HTTPURL?
  /// Where the server's public keys are.
  package let jwksURI: HTTPURL?
  /// The endpoints for clients that show a certificate, where they are others. RFC 8705 §5
  private let mutualTLSAliases: [String: HTTPURL]
  /// nil if the server is silent about DPoP. RFC 9449 §5.1
  package let proofAlgorithms: [String]?

  /// Judges the body of a metadata document.
  ///
  /// - Throws: ``MetadataDefect``
  package init(parsing body: [UInt8], issuer: Issuer) throws(MetadataDefect) {
    guard let json = try? JSONValue(parsing: body), json.objectValue != nil else { throw .notJSON }
    guard let stated = json["issuer"]?.stringValue else { throw .issuerMissing }
    // Simple string comparison, no normalisation. RFC 8414 §3.3, RFC 3986 §6.2.1
    guard stated == issuer.text else { throw .issuerMismatch(stated: UntrustedText(stated)) }
    guard let endpoint = json["token_endpoint"]?.stringValue else { throw .tokenEndpointMissing }
    guard let url = try? HTTPURL(parsing: endpoint) else { throw .tokenEndpointMalformed }
    guard issuer.permits(url) else { throw .tokenEndpointNotSecure }
    self.issuer = stated
    tokenEndpoint = url
    /// An optional endpoint that can't be used is as good as absent.
    func optional(_ name: String, in json: JSONValue? = json) -> HTTPURL? {
      json?[name]?.stringValue.flatMap { try? HTTPURL(parsing: $0) }.flatMap { issuer.permits($0) ? $0 : nil }
    }
    revocationEndpoint = optional("revocation_endpoint")
    introspectionEndpoint = optional("introspection_endpoint")
    userinfoEndpoint = optional("userinfo_endpoint")
    jwksURI = optional("jwks_uri")
    var aliases: [String: HTTPURL] = [:]
    for name in ["token_endpoint", "revocation_endpoint"] {
      aliases[name] = optional(name, in: json["mtls_endpoint_aliases"])
    }
    mutualTLSAliases = aliases
    proofAlgorithms = json["dpop_signing_alg_values_supported"]?.stringArrayValue
  }

  /// Where a client asks for tokens, by whether it shows a certificate. RFC 8705 §5
  package func tokenEndpoint(mutualTLS: Bool) -> HTTPURL {
    mutualTLS ? mutualTLSAliases["token_endpoint"] ?? tokenEndpoint : tokenEndpoint
  }

  package func revocationEndpoint(mutualTLS: Bool) -> HTTPURL? {
    mutualTLS ? mutualTLSAliases["revocation_endpoint"] ?? revocationEndpoint : revocationEndpoint
  }

  /// - Throws: ``OAuthError/noCommonProofAlgorithm`` if the server says which algorithms it takes, and ES256 is not there.
  package func checkProofAlgorithm() throws(OAuthError) {
    if let proofAlgorithms, !proofAlgorithms.contains("ES256") { throw .noCommonProofAlgorithm }
  }
}

/// What is wrong with a metadata document.
package enum MetadataDefect: Error, Sendable, Equatable {
  case notJSON
  case issuerMissing
  /// The server calls itself by another name, maybe only by a slash.
  case issuerMismatch(stated: UntrustedText)
  case tokenEndpointMissing
  case tokenEndpointMalformed
  case tokenEndpointNotSecure
}

extension MetadataDefect: CustomStringConvertible {
  package var description: String {
    switch self {
    case .notJSON: "the metadata are not a JSON object"
    case .issuerMissing: "the metadata name no issuer"
    case .issuerMismatch(let stated): "the server calls itself \"\(stated.shown(hiding: []))\""
    case .tokenEndpointMissing: "the metadata name no token_endpoint"
    case .tokenEndpointMalformed: "the token_endpoint of the metadata is not an http or https URL"
    case .tokenEndpointNotSecure: "the token_endpoint of the metadata is not https"
    }
  }
}
