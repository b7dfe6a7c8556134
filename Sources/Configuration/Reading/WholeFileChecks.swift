import HTTPWire

/// What shows only when the parts are seen together.
extension ReadingContext {
  /// A route that leads back to proofd would turn round until something overflows.
  func check(_ drafts: [RouteDraft], reach listen: [ListenAddress]) {
    for draft in drafts where draft.route.upstream.scheme == .http {
      let upstream = draft.route.upstream
      let own = listen.contains { address in
        guard case .tcp(let host, let port) = address, port == upstream.port else { return false }
        let isLocalName = upstream.host == "localhost" || upstream.host.hasSuffix(".localhost")
        return host == upstream.host || isLocalName && (host == "127.0.0.1" || host == "::1")
      }
      if own { draft.upstreamEntry.report("is an address proofd itself listens on") }
    }
  }

  /// A token without proof of possession can be used by whoever receives it, also against the others (RFC 6750 §5.2).
  /// And a credential nobody uses is most likely a forgotten line.
  func check(_ drafts: [RouteDraft], share credentials: CredentialTable) {
    var firstRoute: [RouteCredential: RouteConfiguration] = [:]
    for draft in drafts {
      guard let used = draft.route.credential, let entry = draft.credentialEntry else { continue }
      guard credentials.profile(used.name)?.mayBeBearer == true else { continue }
      guard let first = firstRoute[used] else {
        firstRoute[used] = draft.route
        continue
      }
      if first.upstream.origin != draft.route.upstream.origin {
        entry.warn(
          "the same token also goes to the upstream of routes.\(first.name), another origin; without DPoP each of them can use it at the other"
        )
      }
    }
    var used = Set(drafts.compactMap { $0.route.credential?.name })
    for profile in credentials.profiles {
      if let subject = profile.subject { used.insert(subject.name) }
      if profile.allowExport { used.insert(profile.name) }
    }
    for (name, entry) in credentials.declared where !used.contains(name) && !problems.hasErrors {
      problems.add(entry.keyMark, entry.path, "no route uses this credential", severity: .warning)
    }
  }

  func checkReplay(_ document: Section, _ drafts: [RouteDraft], limit: Int, total: Int) {
    let message = "must not be more than replay_total (\(ScalarFormat.spell(bytes: total)))"
    if limit > total {
      (document["replay_limit"] ?? document["replay_total"])?.report(
        document["replay_limit"] == nil
          ? "must not be less than replay_limit (\(ScalarFormat.spell(bytes: limit)))" : message)
    }
    for draft in drafts where draft.route.replayLimitBytes > total { draft.replayLimitEntry?.report(message) }
  }
}

extension CredentialProfile {
  /// Whether what is sent can be used by anyone who sees it.
  fileprivate var mayBeBearer: Bool {
    if case .client(let client) = kind { !client.dpop || client.allowBearer } else { true }
  }
}
