import HTTPWire

/// The command line of `proofd-sim`.
enum SimulatorArguments {
  enum Invocation: Sendable {
    case help
    case run(SimulationOptions)
  }

  struct UsageError: Error, Equatable {
    var detail: String
  }

  static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
    var options = SimulationOptions(clients: [])
    options.adminPort = 0
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      // `--name value` and `--name=value` are the same.
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let name = parts[0]
      if name == "--help" || name == "-h" { return .help }
      if try applyFlag(name, hasValue: parts.count > 1, &options) { continue }
      guard known.contains(name) else { throw UsageError(detail: "there is no option \(name)") }
      guard let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
        throw UsageError(detail: "\(name) needs a value")
      }
      try apply(ArgumentValue(name: name, text: value), &options)
    }
    if options.settings.authorizationServer.clients.isEmpty {
      options.settings.authorizationServer.clients = SimulationOptions().settings.authorizationServer.clients
    }
    return .run(options)
  }

  private static func applyFlag(
    _ name: String, hasValue: Bool, _ options: inout SimulationOptions
  ) throws(UsageError) -> Bool {
    switch name {
    case "--no-admin": options.adminPort = nil
    case "--redact-journal": options.redactsJournal = true
    default: return false
    }
    guard !hasValue else { throw UsageError(detail: "\(name) takes no value") }
    return true
  }

  static let known: Set<String> = [
    "--as-port", "--api-port", "--admin-port", "--seed", "--client", "--audience", "--scope", "--expires-in",
    "--token-format", "--token-type", "--binding", "--nonce", "--as-nonce", "--api-nonce", "--previous-nonces",
    "--nonce-lifetime", "--access", "--external-url", "--clock-offset", "--settings",
  ]

  private static func apply(_ value: ArgumentValue, _ options: inout SimulationOptions) throws(UsageError) {
    switch value.name {
    case "--as-port": options.authorizationServerPort = try value.port()
    case "--api-port": options.apiPort = try value.port()
    case "--admin-port": options.adminPort = try value.port()
    case "--seed": options.seed = value.text
    case "--settings": try value.applySettings(to: &options.settings)
    case "--access": options.settings.api.access = try value.access()
    case "--external-url": options.settings.api.server.externalURL = try value.baseURL()
    case "--as-nonce": options.settings.authorizationServer.server.nonce.mode = try value.choice(NonceMode.self)
    case "--api-nonce": options.settings.api.server.nonce.mode = try value.choice(NonceMode.self)
    case "--nonce", "--previous-nonces", "--nonce-lifetime", "--clock-offset":
      try applyToServer(value, &options.settings.authorizationServer.server)
      try applyToServer(value, &options.settings.api.server)
    default: try applyToTokens(value, &options.settings.authorizationServer)
    }
  }

  private static func applyToServer(_ value: ArgumentValue, _ server: inout ServerSettings) throws(UsageError) {
    switch value.name {
    case "--nonce": server.nonce.mode = try value.choice(NonceMode.self)
    case "--previous-nonces": server.nonce.previousAccepted = try value.number(in: 0...(NonceBook.remembered - 1))
    case "--nonce-lifetime": server.nonce.lifetimeSeconds = try value.number(in: 1...ArgumentValue.secondsMax)
    default:
      server.clockOffsetSeconds = try value.number(in: -ArgumentValue.secondsMax...ArgumentValue.secondsMax)
    }
  }

  private static func applyToTokens(
    _ value: ArgumentValue, _ settings: inout AuthorizationServerSettings
  ) throws(UsageError) {
    switch value.name {
    case "--client": settings.clients.append(try value.client())
    case "--audience": settings.audiences.append(value.text)
    case "--scope": settings.scopes = (settings.scopes ?? []) + [value.text]
    case "--token-format": settings.tokenFormat = try value.choice(AuthorizationServerSettings.TokenFormat.self)
    case "--token-type": settings.tokenTypeSpelling = value.text
    case "--binding": settings.binding = try value.choice(AuthorizationServerSettings.TokenBinding.self)
    default: (settings.tokenLifetimeSeconds, settings.expiresIn) = try value.lifetime(settings.expiresIn)
    }
  }
}
