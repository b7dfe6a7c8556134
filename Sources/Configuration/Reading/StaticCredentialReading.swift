extension ReadingContext {
  static let rereadRange = Duration.seconds(1)...Duration.seconds(86_400)

  private enum Scheme { case bearer, basic }

  func readStaticCredential(_ section: Section) -> StaticCredential? {
    let reread = section["reread"]?.duration(Self.rereadRange)
    guard let placement = readPlacement(section) else { return nil }
    let credential = StaticCredential(placement: placement, reread: reread ?? StaticCredential.rereadDefault)
    if let entry = section["reread"] {
      switch credential.secret {
      case .file, .command: break
      case .environment, .literal:
        entry.reportKey("only a secret from a file or a command can change and be read again")
      }
    }
    return credential
  }

  private func readPlacement(_ section: Section) -> StaticCredential.Placement? {
    let ways = ["scheme", "header", "query"].filter { section[$0] != nil }
    guard ways.count <= 1 else {
      section[ways[1]]?.reportKey("a credential is sent in one way: \(ways.joined(separator: " or "))")
      return nil
    }
    if let entry = section["scheme"] {
      guard let scheme = entry.choice(["Bearer": Scheme.bearer, "Basic": .basic]) else { return nil }
      if scheme == .basic { return readBasic(section) }
    }
    for key in ["username", "password"] {
      section[key]?.reportKey("goes with scheme: Basic only")
    }
    let secret = section.required("token").flatMap { readSecret($0) }
    if let entry = section["header"] {
      guard let name = readCredentialFieldName(entry), let secret else { return nil }
      return .field(name: name, secret)
    }
    if let entry = section["query"] {
      guard let name = entry.string(expected: "the parameter's name"), let secret else { return nil }
      return .query(name: name, secret)
    }
    return secret.map { .bearer($0) }
  }

  /// RFC 7617 §2
  private func readBasic(_ section: Section) -> StaticCredential.Placement? {
    section["token"]?.reportKey("scheme: Basic has username and password instead")
    let name = section.required("username", "is required by scheme: Basic")?.string(expected: "a user name")
    let password = section.required("password", "is required by scheme: Basic").flatMap { readSecret($0) }
    guard let name, let password else { return nil }
    guard !name.contains(":"), !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      section["username"]?.report("must not have a colon or control characters")
      return nil
    }
    return .basic(username: name, password: password)
  }
}
