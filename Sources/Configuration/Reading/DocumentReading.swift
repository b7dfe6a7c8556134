import HTTPWire

extension ReadingContext {
  static let listenersMax = 16
  static let allowedHostsMax = 100
  /// Loops beyond this bring nothing on the machines proofd is for; `threads` may say more.
  static let threadsByDefaultMax = 4

  /// The whole file. Nil when an error was found.
  func readConfiguration(_ root: YAMLNode?, file: String) -> Configuration? {
    if root == nil, !problems.hasErrors { problems.add(.wholeFile, "", "the file is empty") }
    guard let root else { return nil }
    let whole = Entry(node: root, keyMark: root.mark, path: "", problems: problems)
    guard let document = Section(whole, KeyTable.document) else { return nil }

    let listen = document["listen"].map(readListenAddresses) ?? [.tcp(host: "127.0.0.1", port: 9449)]
    let callers =
      document["callers"]?.choice(["same-user": CallerPolicy.sameUser, "any": .any], later: LaterVersions.callers)
    let hosts = document["allowed_hosts"].map(readAllowedHosts) ?? []
    let state = readStateDirectory(document)
    let store = readStore(document["store"])
    let threads = document["threads"]?.integer(Bounds.threads)
    let log = document["log"].flatMap { Section($0, KeyTable.log) }
    let logFile = log?["file"].flatMap(readPath)
    let limits = document["limits"].flatMap { Section($0, KeyTable.limits) }.map(readLimits) ?? Limits()
    let timeouts = readTimeouts(document)
    let replayLimit = document["replay_limit"]?.size(Bounds.replayLimit) ?? Configuration.replayLimitBytesDefault
    let replayTotal = document["replay_total"]?.size(Bounds.replayTotal) ?? Configuration.replayTotalBytesDefault

    let credentials = document["credentials"].map(readCredentials) ?? CredentialTable()
    let defaults = RouteDefaults(
      replayLimitBytes: replayLimit, bodyLimitBytes: limits.bodyBytesMax, timeouts: timeouts)
    let drafts = document["routes"].map { readRoutes($0, credentials: credentials, defaults: defaults) } ?? []
    check(drafts, reach: listen)
    check(drafts, share: credentials)
    checkReplay(document, drafts, limit: replayLimit, total: replayTotal)
    if document["routes"] == nil {
      problems.add(root.mark, "routes", "there are no routes: every request is answered no_route", severity: .warning)
    }

    guard !problems.hasErrors, let state, let store else { return nil }
    return Configuration(
      file: file, listen: listen, allowedHosts: hosts, stateDirectory: state, store: store,
      callers: callers ?? .sameUser,
      threads: threads ?? max(1, min(surroundings.cores, Self.threadsByDefaultMax)), credentials: credentials.profiles,
      routes: drafts.map(\.route), log: LogConfiguration(file: logFile), limits: limits, timeouts: timeouts,
      replayLimitBytes: replayLimit, replayTotalBytes: replayTotal,
      secretVariables: secretVariables)
  }

  private func readStateDirectory(_ document: Section) -> String? {
    if let entry = document["state"] { return readPath(entry) }
    if let stateHome = surroundings.stateHome { return Self.join(stateHome, "proofd") }
    if let home = surroundings.home { return Self.join(home, ".local/state/proofd") }
    problems.add(document.keyMark, "state", "is required when neither XDG_STATE_HOME nor HOME is set")
    return nil
  }

  private func readLimits(_ section: Section) -> Limits {
    var limits = Limits()
    if let value = section["connections"]?.integer(Bounds.connections) { limits.connectionsMax = value }
    if let value = section["waiting"]?.integer(Bounds.waiting) { limits.waitingMax = value }
    if let value = section["body"]?.size(Bounds.body) { limits.bodyBytesMax = value }
    if let value = section["head"]?.size(Bounds.head) { limits.headBytesMax = value }
    if let value = section["fields"]?.integer(Bounds.fields) { limits.fieldCountMax = value }
    if let value = section["target"]?.size(Bounds.target) { limits.targetBytesMax = value }
    if let value = section["idle_upstream_connections"]?.integer(Bounds.idleUpstreamConnections) {
      limits.idleUpstreamConnectionsMax = value
    }
    return limits
  }

  private func readTimeouts(_ document: Section) -> Timeouts {
    var timeouts = Timeouts()
    if let value = document["token_timeout"]?.duration(Bounds.token) { timeouts.token = value }
    guard let section = document["timeouts"].flatMap({ Section($0, KeyTable.timeouts) }) else { return timeouts }
    if let value = section["head"]?.duration(Bounds.wait) { timeouts.head = value }
    if let value = section["body"]?.duration(Bounds.longWait) { timeouts.body = value }
    if let value = section["send"]?.duration(Bounds.longWait) { timeouts.send = value }
    if let value = section["idle"]?.duration(Bounds.longWait) { timeouts.idle = value }
    if let value = section["connect"]?.duration(Bounds.connect) { timeouts.connect = value }
    if let value = section["response"]?.duration(Bounds.response) { timeouts.response = value }
    if let value = section["idle_upstream"]?.duration(Bounds.longWait) { timeouts.idleUpstream = value }
    if let value = section["drain"]?.duration(Bounds.drain) { timeouts.drain = value }
    return timeouts
  }
}
