extension StoreError {
  /// A short stable word.
  package var code: String {
    switch self {
    case .locked: "locked"
    case .passphraseWrong: "passphrase_wrong"
    case .passphraseNotUsed: "passphrase_not_used"
    case .keyMissing: "store_key_missing"
    case .keyWrong: "store_key_wrong"
    case .keyMalformed: "store_key_malformed"
    case .damaged: "store_damaged"
    case .conflict: "conflict"
    case .nameTaken: "name_taken"
    case .fromTheFuture: "store_from_the_future"
    case .notAStore: "not_a_store"
    case .openToOthers: "store_open_to_others"
    case .diskFull: "disk_full"
    case .readOnly: "store_read_only"
    case .busy: "store_busy"
    case .unusable: "store_unusable"
    }
  }

  /// What is the matter, without a full stop.
  package var detail: String {
    switch self {
    case .locked: "the credential store is locked"
    case .passphraseWrong: "this is not the passphrase of the credential store"
    case .passphraseNotUsed: "the credential store is not sealed with a passphrase"
    case .keyMissing(let path): "the key of the credential store is not at \(path)"
    case .keyWrong(let path): "the key at \(path) is not the one the credential store was sealed with"
    case .keyMalformed(let path): "\(path) holds no key of a credential store"
    case .damaged(let record, let field): "\(field) of \(record) does not open: it was changed or moved"
    case .conflict: "another process changed the account at the same time"
    case .nameTaken: "there is an account of this name already"
    case .fromTheFuture(let version, let known):
      "the credential store has format \(version), written by a later proofd; this one knows format \(known)"
    case .notAStore(let path): "\(path) is no credential store"
    case .openToOthers(let path): "other users may read or change \(path)"
    case .diskFull(let path): "there is no room left on the disk of \(path)"
    case .readOnly(let path): "\(path) can't be written"
    case .busy(let path): "another process keeps \(path) locked"
    case .unusable(let path, let reason): "\(path) can't be used: \(reason)"
    }
  }

  /// One thing to do.
  package var next: String {
    switch self {
    case .locked: "Run proofd unlock."
    case .passphraseWrong: "Try again with the right passphrase."
    case .passphraseNotUsed: "Nothing to do; see store.key in the configuration."
    case .keyMissing: "Put the key back from a backup; without it the accounts have to be logged in anew."
    case .keyWrong, .keyMalformed: "Put the right key back from a backup."
    case .damaged: "Restore the store from a backup, or remove this account and log in anew."
    case .conflict: "Try again."
    case .nameTaken: "Choose another name, or replace it with --replace."
    case .fromTheFuture: "Use the later proofd, or another state directory."
    case .notAStore: "Move the file away, or name another state directory."
    case .openToOthers(let path): "Run chmod go= \(path)."
    case .diskFull: "Make room; nothing was lost."
    case .readOnly: "Make it writable for this user; nothing was lost."
    case .busy: "See which process it is."
    case .unusable: "See to the cause."
    }
  }
}
