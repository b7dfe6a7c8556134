/// What one configuration file says, complete with defaults: a value that exists can be served.
package struct Configuration: Sendable, Equatable {
  /// The file it was read from, for messages.
  package var file: String
  /// At least one. `127.0.0.1:9449` by default.
  package var listen: [ListenAddress]
  /// Values of `Host` served besides our own addresses: lower case, with the port where it is not 80.
  package var allowedHosts: [String]
  /// Absolute path of the directory proofd keeps its state in.
  package var stateDirectory: String
  package var store: StoreConfiguration
  package var callers: CallerPolicy
  /// Event loops, from 1 to 64.
  package var threads: Int
  /// In the order of the file; names are unique.
  package var credentials: [CredentialProfile]
  /// In the order of the file; names and paths are unique.
  package var routes: [RouteConfiguration]
  package var log: LogConfiguration
  package var limits: Limits
  package var timeouts: Timeouts
  /// Body bytes of one request that are kept for a replay, unless its route says otherwise.
  package var replayLimitBytes: Int
  /// Body bytes kept for replays over all requests; at least every single limit.
  package var replayTotalBytes: Int
  /// Names of the environment variables that hold secrets: no program that is started has them.
  package var secretVariables: Set<String>

  package static let replayLimitBytesDefault = 1 << 20
  package static let replayTotalBytesDefault = 32 << 20

  package init(
    file: String, listen: [ListenAddress] = [.tcp(host: "127.0.0.1", port: 9449)], allowedHosts: [String] = [],
    stateDirectory: String, store: StoreConfiguration, callers: CallerPolicy = .sameUser, threads: Int = 1,
    credentials: [CredentialProfile] = [], routes: [RouteConfiguration] = [],
    log: LogConfiguration = LogConfiguration(), limits: Limits = Limits(),
    timeouts: Timeouts = Timeouts(), replayLimitBytes: Int = Self.replayLimitBytesDefault,
    replayTotalBytes: Int = Self.replayTotalBytesDefault, secretVariables: Set<String> = []
  ) {
    self.file = file
    self.listen = listen
    self.allowedHosts = allowedHosts
    self.stateDirectory = stateDirectory
    self.store = store
    self.callers = callers
    self.threads = threads
    self.credentials = credentials
    self.routes = routes
    self.log = log
    self.limits = limits
    self.timeouts = timeouts
    self.replayLimitBytes = replayLimitBytes
    self.replayTotalBytes = replayTotalBytes
    self.secretVariables = secretVariables
  }

  package func credential(named name: String) -> CredentialProfile? { credentials.first { $0.name == name } }
}

/// Who may use the gateway.
package enum CallerPolicy: String, Sendable {
  /// Processes of the user proofd runs as.
  case sameUser = "same-user"
  /// Whoever can connect.
  case any
}

/// Where request records go.
package struct LogConfiguration: Sendable, Equatable {
  /// Absolute path; nil is standard error.
  package var file: String?

  package init(file: String? = nil) { self.file = file }
}
