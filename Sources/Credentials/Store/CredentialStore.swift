package import Cryptography

/// Keeps grants and their access tokens across restarts. All calls block, some for as long as a disk takes; any thread.
///
/// There need not be a store yet: reading finds nothing then, and the first ``insert(_:tokens:replacing:)`` makes it. Several
/// processes may use one at the same time.
package protocol CredentialStore: Sendable {
  /// Every grant, by profile and account; works while the store is locked.
  func records() throws(StoreError) -> [GrantRecord]

  /// nil: there is none of this identity any more.
  ///
  /// - Throws: ``StoreError/damaged(record:field:)`` if a sealed field can't be opened, ``StoreError/locked``.
  func grant(_ id: GrantID) throws(StoreError) -> StoredGrant?

  /// Stores a new grant with its tokens. The first of a profile becomes its default, and one that replaces the default
  /// stays it.
  ///
  /// - Parameter replaced: the grant of the same name that goes with all its tokens, in the same transaction.
  /// - Throws: ``StoreError/nameTaken`` if another grant has the name.
  func insert(_ grant: StoredGrant, tokens: [StoredToken], replacing replaced: GrantID?) throws(StoreError)

  /// Stores a changed grant and tokens that came with the change, durably and as one.
  ///
  /// - Parameter endingIntent: the refresh that was noted is over.
  /// - Returns: the grant with its new revision.
  /// - Throws: ``StoreError/conflict`` if the grant is gone or not of this revision any more; nothing has changed then.
  func update(
    _ grant: StoredGrant, tokens: [StoredToken], endingIntent: Bool
  ) throws(StoreError) -> StoredGrant

  /// As ``update(_:tokens:endingIntent:)`` for rotation, tags, condition, scope and the time of the last refresh; works
  /// while the store is locked. The rest of a record does not change by this: the seals name it.
  func update(_ record: GrantRecord, endingIntent: Bool) throws(StoreError) -> GrantRecord

  /// Makes this grant the default of its profile, and no other.
  func makeDefault(_ id: GrantID) throws(StoreError)

  /// Removes a grant with its tokens and its intent; no other becomes the default. False if there was none.
  func remove(_ id: GrantID) throws(StoreError) -> Bool

  /// The access token for a target; nil if there is none.
  func token(of grant: GrantID, target: String) throws(StoreError) -> StoredToken?

  /// The access tokens of a grant that open: a damaged one hides no other, and ``token(of:target:)`` tells of it.
  func tokens(of grant: GrantID) throws(StoreError) -> [StoredToken]

  /// Notes durably that a refresh token is about to be sent.
  func begin(_ intent: RefreshIntent) throws(StoreError)

  /// The refreshes whose end nobody noted.
  func intents() throws(StoreError) -> [RefreshIntent]

  /// Forgets an intent: the token was not sent, or the server has answered that it did nothing.
  func endIntent(of grant: GrantID) throws(StoreError)

  /// The right to refresh this grant, for one holder on this machine at a time; nil while another has it. The kernel
  /// takes it back when its holder dies.
  func lease(_ grant: GrantID) throws(StoreError) -> (any GrantLease)?

  /// Another number whenever any process has changed the store.
  func changeCounter() throws(StoreError) -> UInt64

  /// Whether sealed fields can be opened now.
  var lockState: StoreLockState { get }

  /// Opens the sealed fields from now on. Makes the store, sealed with this passphrase, if there is none.
  ///
  /// - Throws: ``StoreError/passphraseWrong``, ``StoreError/passphraseNotUsed``.
  func unlock(passphrase: Secret) throws(StoreError)

  /// Forgets the key, if it came from a passphrase.
  ///
  /// - Throws: ``StoreError/passphraseNotUsed``
  func lock() throws(StoreError)
}

/// Ends with ``release()`` or with the last reference.
package protocol GrantLease: AnyObject, Sendable {
  func release()
}

package enum StoreLockState: Sendable, Equatable {
  case unlocked
  /// A passphrase opens it.
  case locked
}

/// Why the store can't do what it was asked. No case holds a secret; paths and record names are for the user.
package enum StoreError: Error, Sendable, Equatable {
  /// It has to be unlocked with its passphrase.
  case locked
  case passphraseWrong
  /// Its key comes from a file or from systemd: there is nothing to lock or unlock.
  case passphraseNotUsed
  /// The key file or systemd credential is gone, and what it sealed can't be opened without it.
  case keyMissing(path: String)
  /// There is a key, and it is not the one the store was sealed with.
  case keyWrong(path: String)
  /// The key file is no key.
  case keyMalformed(path: String)
  /// A sealed field does not open: it was changed, or it belongs to another record.
  case damaged(record: String, field: String)
  /// The grant is gone or was changed by somebody else.
  case conflict
  case nameTaken
  /// A later proofd wrote it.
  case fromTheFuture(version: Int, knownVersion: Int)
  /// The file is no store of proofd.
  case notAStore(path: String)
  /// Others may read or write it.
  case openToOthers(path: String)
  case diskFull(path: String)
  case readOnly(path: String)
  /// Another process kept it locked for longer than we wait.
  case busy(path: String)
  /// The operating system, or SQLite, says no.
  case unusable(path: String, reason: String)
}
