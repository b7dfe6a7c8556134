import Cryptography

/// A store that has been opened and is of the current format.
final class OpenStore {
  let database: Database
  let header: StoreHeader
  let identity: StoreFiles.Identity

  /// nil if the file has nothing in it yet.
  init?(_ path: String, _ identity: StoreFiles.Identity, busyMilliseconds: Int32) throws(StoreError) {
    let database = try Database(path: path, busyMilliseconds: busyMilliseconds)
    guard try StoreFormat.version(of: database) != nil else { return nil }
    try database.settle()
    try StoreFormat.migrate(database)
    self.database = database
    self.identity = identity
    header = try StoreHeader.read(from: database)
  }

  /// Whether the file still holds what was opened, in the format of this proofd.
  ///
  /// - Throws: ``StoreError/fromTheFuture(version:knownVersion:)``
  var isCurrent: Bool {
    get throws(StoreError) {
      guard try StoreFormat.version(of: database) == StoreFormat.current else { return false }
      let now = try StoreHeader.read(from: database)
      return now.id == header.id && now.sealedDataKey == header.sealedDataKey
    }
  }
}
