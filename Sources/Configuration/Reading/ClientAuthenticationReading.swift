import Cryptography

extension ReadingContext {
  private enum Method: String {
    case none, basic, post
    case clientSecretJWT = "client_secret_jwt"
    case privateKeyJWT = "private_key_jwt"
    case tls
  }

  /// Which methods a key goes with.
  private static let methodsOfKey: KeyValuePairs<String, [Method]> = [
    "client_secret": [.basic, .post, .clientSecretJWT], "private_key": [.privateKeyJWT], "key_id": [.privateKeyJWT],
    "signing_algorithm": [.privateKeyJWT], "assertion_audience": [.privateKeyJWT, .clientSecretJWT],
  ]

  /// What the registry of token endpoint authentication methods calls ours.
  private static let registeredNames = [
    "client_secret_basic": "basic", "client_secret_post": "post", "tls_client_auth": "tls",
    "self_signed_tls_client_auth": "tls",
  ]

  /// How the client shows who it is; nil when that and its keys don't fit together, which is reported.
  ///
  /// - Parameter tls: of the same credential; its certificate is read elsewhere.
  func readClientAuthentication(_ section: Section, tls: Section?) -> ClientAuthentication? {
    let secret = section["client_secret"].flatMap { readSecret($0) }
    let key = section["private_key"] == nil ? nil : readSigningKey(section)
    let audience = section["assertion_audience"]?.string(expected: "the aud of the client's assertions")
    guard let method = readMethod(section, tls: tls), fits(section, method) else { return nil }
    switch method {
    case .none: return ClientAuthentication.none
    case .basic, .post, .clientSecretJWT:
      guard required("client_secret", by: method, section), let secret else { return nil }
      switch method {
      case .basic: return .basic(secret)
      case .post: return .post(secret)
      default: return .clientSecretJWT(secret, audience: audience)
      }
    case .privateKeyJWT:
      guard required("private_key", by: method, section), let key else { return nil }
      return .privateKeyJWT(key, audience: audience)
    case .tls:
      guard tls?["certificate"] != nil else {
        if section["tls"] == nil || tls != nil {
          let path = KeyPath.key("certificate", of: KeyPath.key("tls", of: section.path))
          problems.add(tls?.keyMark ?? section.keyMark, path, "is required by client_auth: tls")
        }
        return nil
      }
      return .tls
    }
  }

  /// A private key with what the header of its signatures says.
  func readSigningKey(_ section: Section) -> SigningKeyReference? {
    let key = section.required("private_key").flatMap { readSecret($0, .privateKey) }
    let keyID = section["key_id"]?.string(expected: "the key's identifier")
    let algorithm = section["signing_algorithm"]?.choice([
      "ES256": JWSAlgorithm.es256, "RS256": .rs256, "PS256": .ps256, "EdDSA": .edDSA,
    ])
    return key.map { SigningKeyReference(privateKey: $0, keyID: keyID, algorithm: algorithm) }
  }

  /// What `client_auth` says, or else what the other keys say.
  private func readMethod(_ section: Section, tls: Section?) -> Method? {
    if let entry = section["client_auth"] {
      let values: KeyValuePairs = [
        "none": Method.none, "basic": .basic, "post": .post, "private_key_jwt": .privateKeyJWT,
        "client_secret_jwt": .clientSecretJWT, "tls": .tls,
      ]
      return entry.choice(values, others: Self.registeredNames)
    }
    switch (section["client_secret"], section["private_key"]) {
    case (.some, .some(let entry)):
      entry.reportKey("a client shows who it is in one way: client_secret or private_key")
      return nil
    case (.some, nil): return .basic
    case (nil, .some): return .privateKeyJWT
    case (nil, nil): return tls?["certificate"] == nil ? Method.none : .tls
    }
  }

  private func fits(_ section: Section, _ method: Method) -> Bool {
    var fits = true
    for (key, methods) in Self.methodsOfKey where !methods.contains(method) {
      guard let entry = section[key] else { continue }
      entry.reportKey("goes with client_auth: \(Self.either(methods.map(\.rawValue))) only")
      fits = false
    }
    return fits
  }

  private func required(_ key: String, by method: Method, _ section: Section) -> Bool {
    section.required(key, "is required by client_auth: \(method.rawValue)") != nil
  }

  /// `a, b or c`
  private static func either(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or \(last)"
  }
}
