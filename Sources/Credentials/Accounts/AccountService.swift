package import Cryptography

/// What can be asked of the accounts and their credentials: the admin API's operations, and the same in process for a
/// command when no daemon runs. Any task.
package protocol AccountService: Sendable {
  /// Every account of the store, and every profile that needs one and has none.
  func accounts() async throws(AccountFailure) -> [AccountStatus]
  func account(_ name: AccountName) async throws(AccountFailure) -> AccountStatus

  /// Stores a grant that was obtained elsewhere; it is proved by a refresh unless `isOffline`.
  ///
  /// - Parameter replace: an account of this name is replaced; otherwise it is a failure.
  func importGrant(
    _ grant: ImportedGrant, as name: AccountName, replace: Bool, isOffline: Bool
  ) async throws(AccountFailure) -> AccountStatus

  func makeDefault(_ name: AccountName) async throws(AccountFailure) -> AccountStatus
  func tag(_ name: AccountName, adding: [String], removing: [String]) async throws(AccountFailure) -> AccountStatus
  /// Removes the account from this machine; what the server knows of it stays.
  func remove(_ name: AccountName) async throws(AccountFailure)

  /// Who the account is, by its ID token.
  func identity(_ name: AccountName) async throws(AccountFailure) -> AccountIdentity

  /// The credential itself, for scripts. Only of a profile with `allow_export: true`.
  func token(_ name: AccountName, _ ask: TokenAsk) async throws(AccountFailure) -> ExportedToken
  /// The fields a request would carry, a proof among them. Only of a profile with `allow_export: true`.
  func fields(_ name: AccountName, _ ask: FieldsAsk) async throws(AccountFailure) -> [ExportedField]

  func unlock(passphrase: Secret) async throws(AccountFailure)
  func lock() async throws(AccountFailure)
  /// nil if the store needs no passphrase.
  func lockStatus() async -> LockStatus?
}
