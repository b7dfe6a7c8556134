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
      guard let section = readCredentialSection(entry) else { continue }
      let allowExport = section.mapping.boolean("allow_export", default: false)
      guard let kind = readCredentialKind(section) else { continue }
      table.profiles.append(CredentialProfile(name: name, kind: kind, allowExport: allowExport))
      if case .client = kind { table.subjectEntries[name] = section.mapping["subject_credential"] }
    }
    checkSubjects(table)
    return table
  }

  private enum Provider { case fixed, oidc }

  private func readCredentialSection(_ entry: Entry) -> (provider: Provider, mapping: Section)? {
    guard case .mapping(let pairs) = entry.node.content else {
      // Reports that it is no mapping.
      _ = Section(entry, KeyTable.oidcCredential)
      return nil
    }
    let path = KeyPath.key("provider", of: entry.path)
    guard let pair = pairs.first(where: { $0.key == "provider" }) else {
      problems.add(entry.keyMark, path, "is required: static or oidc")
      return nil
    }
    let value = Entry(node: pair.value, keyMark: pair.keyMark, path: path, problems: problems)
    let provider = value.choice(["static": Provider.fixed, "oidc": .oidc], later: LaterVersions.providers)
    let mapping: Section? =
      switch provider {
      case nil: nil
      case .fixed: Section(entry, KeyTable.staticCredential, others: [(KeyTable.oidcCredential, "provider: oidc")])
      case .oidc: Section(entry, KeyTable.oidcCredential, others: [(KeyTable.staticCredential, "provider: static")])
      }
    guard let provider, let mapping else { return nil }
    return (provider, mapping)
  }

  private func readCredentialKind(_ section: (provider: Provider, mapping: Section)) -> CredentialProfile.Kind? {
    switch section.provider {
    case .fixed: readStaticCredential(section.mapping).map { .fixed($0) }
    case .oidc: readClientProfile(section.mapping).map { .client($0) }
    }
  }
}
