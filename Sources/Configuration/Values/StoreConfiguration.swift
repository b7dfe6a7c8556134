/// What opens the store of logins, and for how long.
package struct StoreConfiguration: Sendable, Equatable {
  /// Where the key comes from that everything in the store is sealed with.
  package enum Key: Sendable, Equatable {
    /// Absolute path of a file of its own; made when there is none.
    case file(String)
    /// Derived from what a person types.
    case passphrase
    /// The name of a systemd credential, a file in `$CREDENTIALS_DIRECTORY`.
    case systemd(name: String)
  }

  /// How long one unlocking lasts.
  package enum UnlockPolicy: Sendable, Equatable {
    /// There is nothing to unlock: the key is read at start.
    case none
    /// Until it is locked or the daemon ends.
    case untilLocked
    /// For one operation; the gateway can't send logins.
    case always
    /// For so long after the passphrase was given.
    case session(Duration)
    /// As `session`, and never beyond the process's life.
    case appLifecycle(Duration)

    package static let appLifecycleDefault = Duration.seconds(3600)
    package static let durationRange = Duration.seconds(10)...Duration.seconds(86_400)
  }

  package var key: Key
  /// `.none` unless the key is a passphrase.
  package var unlock: UnlockPolicy

  package init(key: Key, unlock: UnlockPolicy = .none) {
    self.key = key
    self.unlock = unlock
  }
}
