import HTTPWire

/// The settings as JSON: what `GET /settings` shows and `PATCH /settings` changes.
enum SettingsJSON {
  static var table: SettingsTable<SimulationSettings> {
    SettingsTable([
      .object("authorization_server", \.authorizationServer, authorizationServer), .object("api", \.api, api),
    ])
  }

  private static var authorizationServer: SettingsTable<AuthorizationServerSettings> {
    SettingsTable(
      server(\.server) + [
        ClientJSON.clients,
        .choice("binding", \.binding),
        .choice("token_format", \.tokenFormat),
        .text("token_type", \.tokenTypeSpelling),
        .integer("token_lifetime_seconds", \.tokenLifetimeSeconds),
        .choice("expires_in", \.expiresIn),
        .texts("audiences", \.audiences),
        scopes,
        .flag("audience_ignored", \.ignoresUnknownAudience),
        .choice("refresh_rotation", \.refresh.rotation),
        .integer("refresh_overlap_seconds", \.refresh.overlapSeconds),
        .integer("refresh_lifetime_seconds", \.refresh.lifetimeSeconds),
        .flag("consumes_refresh_before_nonce", \.refresh.isConsumedBeforeNonce),
        .choice("id_token", \.idToken),
        ClientJSON.users,
        ClientJSON.assertionIssuers,
        .flag("accept_any_subject", \.acceptsAnySubject),
      ])
  }

  private static var api: SettingsTable<APISettings> {
    SettingsTable(
      server(\.server) + [
        access,
        .texts("audiences", \.audiences),
        invalidToken,
        .choice("rejection", \.rejection),
        .flag("judges_token_first", \.judgesTokenFirst),
      ])
  }

  /// What both servers have, without a level of its own.
  private static func server<Root>(_ base: WritableKeyPath<Root, ServerSettings>) -> [Setting<Root>] {
    [
      .object("nonce", base.appending(path: \.nonce), nonce),
      .integer("clock_offset_seconds", base.appending(path: \.clockOffsetSeconds), in: -1_000_000_000...1_000_000_000),
      .integer("proof_age_seconds_max", base.appending(path: \.proofAgeSecondsMax)),
      .integer("proof_lead_seconds_max", base.appending(path: \.proofLeadSecondsMax)),
      .choice("encoding", base.appending(path: \.encoding)),
      .text("external_url", base.appending(path: \.externalURL)),
      .texts("hosts", base.appending(path: \.hosts)),
    ]
  }

  private static var nonce: SettingsTable<NoncePolicy> {
    SettingsTable([
      .choice("mode", \.mode),
      .integer("previous_accepted", \.previousAccepted, in: 0...Int64(NonceBook.remembered - 1)),
      .integer("lifetime_seconds", \.lifetimeSeconds),
      .flag("per_key", \.isPerKey),
      .object(
        "challenge", \.challenge,
        SettingsTable([
          challengeStatus,
          .choice("nonce_fields", \.nonceFields),
          .choice("place", \.place),
          .choice("bearer", \.bearer),
          .flag("odd_case", \.hasOddCase),
        ])),
    ])
  }

  private static var challengeStatus: Setting<NonceChallenge> {
    Setting(name: "status") {
      .optional($0.status)
    } set: { challenge, value, path throws(AdminError) in
      guard value.isNull || value.int64Value.map({ (200...599).contains($0) }) == true else {
        throw AdminError("\(path) must be a status from 200 to 599, or null")
      }
      challenge.status = value.int64Value.map { Int($0) }
    }
  }

  private static var scopes: Setting<AuthorizationServerSettings> {
    Setting(name: "scopes") {
      $0.scopes.map { .strings($0) } ?? .null
    } set: { settings, value, path throws(AdminError) in
      guard value.isNull || value.stringArrayValue != nil else {
        throw AdminError("\(path) must be a list of strings, or null")
      }
      settings.scopes = value.stringArrayValue
    }
  }

  private static var invalidToken: Setting<APISettings> {
    Setting(name: "invalid_token") {
      guard let refusal = $0.invalidToken else { return .null }
      return .object([
        ("next", refusal.remaining.map { .integer($0) } ?? "always"),
        ("challenge", .string(refusal.challenge.rawValue)),
      ])
    } set: { settings, value, path throws(AdminError) in
      if value.isNull { return settings.invalidToken = nil }
      var members = try JSONMembers(value, at: path)
      let next = members.take("next") ?? "always"
      let challenge = try members.choice("challenge", as: InvalidToken.Challenge.self) ?? .dpop
      try members.finish()
      guard next.stringValue == "always" || next.int64Value.map({ (0...1_000_000).contains($0) }) == true else {
        throw AdminError("\(path).next must be \"always\" or a number")
      }
      settings.invalidToken = InvalidToken(remaining: next.int64Value.map { Int($0) }, challenge: challenge)
    }
  }

  private static var access: Setting<APISettings> {
    Setting(name: "access") {
      AccessJSON.json($0.access)
    } set: { settings, value, path throws(AdminError) in
      settings.access = try AccessJSON.read(value, at: path)
    }
  }
}
