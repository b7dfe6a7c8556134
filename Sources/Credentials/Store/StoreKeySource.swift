/// Where the key comes from that a store is sealed with. It decides how a new store is sealed; one that exists says by
/// itself whether it takes a key or a passphrase.
package enum StoreKeySource: Sendable, Equatable {
  /// A file of ours, mode 0600; it is made together with a new store and never again. Protects a store that is copied without
  /// it, not a stolen disk.
  case file(path: String)
  /// Asked of the user, through ``CredentialStore/unlock(passphrase:)``.
  case passphrase
  /// A credential of systemd's, 32 bytes or as in a key file; it is never made. systemd.exec(5), Credentials
  ///
  /// - Parameter directory: `$CREDENTIALS_DIRECTORY`; nil if it is not set.
  case systemd(name: String, directory: String?)

  /// What a missing key is told by.
  var keyPath: String? {
    switch self {
    case .file(let path): path
    case .passphrase: nil
    case .systemd(let name, let directory): "\(directory ?? "$CREDENTIALS_DIRECTORY")/\(name)"
    }
  }
}
