extension ReadingContext {
  private enum Policy { case none, untilLocked, always, session, appLifecycle }

  /// Nil after a mistake, which is reported.
  func readStore(_ entry: Entry?) -> StoreConfiguration? {
    guard let entry else { return StoreConfiguration(key: .file(defaultKeyFile)) }
    guard let section = Section(entry, KeyTable.store) else { return nil }
    let key = section["key"].map(readStoreKey) ?? .file(defaultKeyFile)
    let duration = section["unlock_for"]?.duration(StoreConfiguration.UnlockPolicy.durationRange)
    let policy = section["unlock"].map {
      $0.choice([
        "none": Policy.none, "default": .untilLocked, "always": .always, "session": .session,
        "app_lifecycle": .appLifecycle,
      ])
    }
    guard let key, let policy = policy ?? (key == .passphrase ? .untilLocked : Policy.none) else { return nil }
    if key == .passphrase, policy == .none {
      section["unlock"]?.report("a passphrase has to be given: default, always, session or app_lifecycle")
    }
    if key != .passphrase, policy != .none {
      section["unlock"]?.report("needs key: passphrase; a key from a file or from systemd is read at start")
    }
    if policy != .session, policy != .appLifecycle {
      section["unlock_for"]?.reportKey("has a meaning with unlock: session or app_lifecycle only")
    }
    switch policy {
    case .none: return StoreConfiguration(key: key, unlock: .none)
    case .untilLocked: return StoreConfiguration(key: key, unlock: .untilLocked)
    case .always:
      if key == .passphrase {
        section["unlock"]?.warn(
          "the gateway can't send a login by itself then: it answers locked, and only commands that ask for the passphrase can use the store"
        )
      }
      return StoreConfiguration(key: key, unlock: .always)
    case .session:
      _ = section.required("unlock_for", "is required by unlock: session")
      return duration.map { StoreConfiguration(key: key, unlock: .session($0)) }
    case .appLifecycle:
      let duration = duration ?? StoreConfiguration.UnlockPolicy.appLifecycleDefault
      return StoreConfiguration(key: key, unlock: .appLifecycle(duration))
    }
  }

  /// Where the configuration usually is, and never where the store is: a copy of the store shall not bring its key along.
  private var defaultKeyFile: String {
    if let configHome = surroundings.configHome { return Self.join(configHome, "proofd/store.key") }
    if let home = surroundings.home { return Self.join(home, ".config/proofd/store.key") }
    return Self.join(surroundings.baseDirectory, "store.key")
  }

  private func readStoreKey(_ entry: Entry) -> StoreConfiguration.Key? {
    guard case .mapping = entry.node.content else {
      let expected = "file, passphrase, {file: PATH} or {systemd: NAME}"
      switch entry.string(expected: expected) {
      case "file": return .file(defaultKeyFile)
      case "passphrase": return .passphrase
      case nil: return nil
      case .some: entry.report("must be \(expected)")
      }
      return nil
    }
    guard let section = Section(entry, KeyTable.storeKey) else { return nil }
    switch (section["file"], section["systemd"]) {
    case (.some(let entry), nil): return readPath(entry).map { .file($0) }
    case (nil, .some(let entry)): return readCredentialName(entry).map { .systemd(name: $0) }
    case (nil, nil), (.some, .some):
      entry.report("must be exactly one of {file: PATH} and {systemd: NAME}")
      return nil
    }
  }

  /// The name of a file in `$CREDENTIALS_DIRECTORY`, as systemd allows it; systemd.exec(5), `LoadCredential=`.
  private func readCredentialName(_ entry: Entry) -> String? {
    guard let name = entry.string(expected: "the name of a systemd credential") else { return nil }
    let isName = ASCII.isPrintable(name) && !name.contains("/") && !name.contains(":") && name.utf8.count <= 255
    guard isName, name != ".", name != ".." else {
      entry.report("must be the name of a systemd credential, without / and :")
      return nil
    }
    return name
  }
}
