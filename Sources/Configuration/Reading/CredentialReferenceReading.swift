extension ReadingContext {
  /// `NAME` or `NAME/ACCOUNT`, for a start without looking whether there is such a credential.
  func readReference(_ entry: Entry) -> CredentialReference? {
    guard let text = entry.string(expected: "the name of a credential, or NAME/ACCOUNT") else { return nil }
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return CredentialReference(name: text) }
    let isName = parts[1].utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-_.@+".utf8.contains($0) }
    guard isName, parts[1].utf8.count <= CredentialReference.accountBytesMax else {
      entry.report(
        "an account's name has letters, digits, - _ . @ and + (\(CredentialReference.accountBytesMax) at most)")
      return nil
    }
    return CredentialReference(name: parts[0], account: parts[1])
  }

  /// The profile a reference means. Nil when there is none, or none that fits, which is reported unless it was already.
  func resolve(
    _ reference: CredentialReference, _ entry: Entry, _ credentials: CredentialTable
  ) -> CredentialProfile? {
    guard let profile = credentials.profile(reference.name) else {
      let names = credentials.declared.map(\.name)
      if !names.contains(reference.name) {
        entry.report(
          "there is no credential of this name", suggestion: NearestKey.find(reference.name, among: names))
      }
      return nil
    }
    guard reference.account == nil || profile.isLogin else {
      entry.report("this credential has no accounts: only grant: authorization_code, device_code and password have")
      return nil
    }
    return profile
  }

  /// Subjects of a token exchange are credentials that give tokens without the exchange itself.
  func checkSubjects(_ credentials: CredentialTable) {
    var subjects: [String: String] = [:]
    for profile in credentials.profiles { subjects[profile.name] = profile.subject?.name }
    for profile in credentials.profiles {
      guard let subject = profile.subject, let entry = credentials.subjectEntries[profile.name],
        let found = resolve(subject, entry, credentials)
      else { continue }
      if case .fixed = found.kind {
        entry.report("must be a provider: oidc credential; a fixed token is a subject_token")
      } else if Self.leadsBack(profile.name, subjects) {
        entry.report("leads back to this credential: there is no token to begin with")
      }
    }
  }

  /// - Parameter subjects: the name of each credential's subject.
  private static func leadsBack(_ name: String, _ subjects: [String: String]) -> Bool {
    var next = subjects[name]
    for _ in subjects.indices {
      guard let current = next else { return false }
      if current == name { return true }
      next = subjects[current]
    }
    return false
  }
}

extension CredentialProfile {
  /// The credential whose token is exchanged, if one is.
  var subject: CredentialReference? {
    guard case .client(let client) = kind, case .tokenExchange(let exchange) = client.grant,
      case .credential(let reference) = exchange.subject
    else { return nil }
    return reference
  }
}
