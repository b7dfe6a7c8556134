import HTTPWire

/// The credentials of a file: those that could be read, and the names of all, so that a route's reference to a broken
/// one is not called unknown.
struct CredentialTable {
  var profiles: [CredentialProfile] = []
  /// Every name given, with where it stands.
  var declared: [(name: String, entry: Entry)] = []
  /// Where `subject_credential` stands, by the name of the credential that has it.
  var subjectEntries: [String: Entry] = [:]

  func profile(_ name: String) -> CredentialProfile? { profiles.first { $0.name == name } }
}

extension ReadingContext {
  static let credentialsMax = 1000

  func readCredentials(_ entry: Entry) -> CredentialTable {
    var table = CredentialTable()
    let pairs = entry.pairs(of: "names and credentials")
    guard pairs.count <= Self.credentialsMax else {
      entry.report("more than \(Self.credentialsMax) credentials")
      return table
    }
    for (name, entry) in pairs {
      let isName = name.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-_.".utf8.contains($0) }
      if name.isEmpty || name.utf8.count > 64 || !isName {
        entry.reportKey("a credential's name has letters, digits, - _ and . (64 at most)")
      }
      table.declared.append((name, entry))
      guard let (kind, section) = readCredentialKind(entry) else { continue }
      let allowExport = section.boolean("allow_export", default: false)
      table.profiles.append(CredentialProfile(name: name, kind: kind, allowExport: allowExport))
      if case .client = kind { table.subjectEntries[name] = section["subject_credential"] }
    }
    checkSubjects(table)
    return table
  }

  private enum Provider { case fixed, oidc }

  private func readCredentialKind(_ entry: Entry) -> (CredentialProfile.Kind, Section)? {
    guard case .mapping(let pairs) = entry.node.content else {
      // Reports that it is no mapping.
      _ = Section(entry, KeyTable.oidcCredential)
      return nil
    }
    guard let pair = pairs.first(where: { $0.key == "provider" }) else {
      problems.add(entry.keyMark, KeyPath.key("provider", of: entry.path), "is required: static or oidc")
      return nil
    }
    let path = KeyPath.key("provider", of: entry.path)
    let value = Entry(node: pair.value, keyMark: pair.keyMark, path: path, problems: problems)
    switch value.choice(["static": Provider.fixed, "oidc": .oidc], later: LaterVersions.providers) {
    case nil: return nil
    case .fixed:
      let others = [(KeyTable.oidcCredential, "provider: oidc")]
      return Section(entry, KeyTable.staticCredential, others: others).flatMap { section in
        readStaticCredential(section).map { (.fixed($0), section) }
      }
    case .oidc:
      let others = [(KeyTable.staticCredential, "provider: static")]
      return Section(entry, KeyTable.oidcCredential, others: others).flatMap { section in
        readClientProfile(section).map { (.client($0), section) }
      }
    }
  }
}
