import Cryptography

/// The store at work: finds the file, makes it, keeps the key. One thread at a time.
///
/// Nothing is touched before the first call, and each call looks whether the file is there and still the same: it may be made,
/// replaced or removed by somebody else.
final class StoreEngine {
  let files: StoreFiles
  let source: StoreKeySource
  let steps: @Sendable (StoreStep) -> Void
  private let busyMilliseconds: Int32
  private var open: OpenStore?
  /// The key that opens the fields, and the sealed form it was had from.
  private var held: (sealed: [UInt8], key: SealingKey)?
  private var changes: UInt64 = 0
  private var dataVersionSeen: Int64?

  init(
    directory: String, source: StoreKeySource, busyMilliseconds: Int32, steps: @escaping @Sendable (StoreStep) -> Void
  ) {
    self.busyMilliseconds = busyMilliseconds
    files = StoreFiles(directory: directory)
    self.source = source
    self.steps = steps
  }

  // MARK: The file

  /// The store that is there now; nil if there is none.
  func current() throws(StoreError) -> OpenStore? {
    guard let identity = try files.identity() else {
      abandon()
      return nil
    }
    // A later proofd may have brought it to another format meanwhile, or somebody put a backup into the same file.
    if let open, open.identity == identity, try open.isCurrent { return open }
    abandon()
    guard let found = try OpenStore(files.database, identity, busyMilliseconds: busyMilliseconds) else { return nil }
    adopt(found)
    return found
  }

  /// Makes a store; one that another process has made meanwhile is taken as it is.
  func create(dataKey: SealingKey, sealedWith key: SealingKey, _ sealing: StoreHeader.Sealing) throws(StoreError)
    -> OpenStore
  {
    try files.create()
    return try files.whileCreating { () throws(StoreError) in
      if let made = try current() { return made }
      let header = StoreHeader.new(dataKey, sealedWith: key, sealing)
      let database = try Database(path: files.database, busyMilliseconds: busyMilliseconds)
      try database.settle()
      try database.transaction(steps) { () throws(StoreError) in
        try StoreFormat.create(in: database)
        try header.write(to: database)
      }
      guard let made = try current() else { throw .unusable(path: files.database, reason: "it was removed") }
      return made
    }
  }

  private func adopt(_ found: OpenStore) {
    open = found
    dataVersionSeen = nil
    changes += 1
    if held?.sealed != found.header.sealedDataKey { held = nil }
  }

  private func abandon() {
    guard let gone = open else { return }
    gone.database.abandonLog()
    open = nil
    changes += 1
  }

  // MARK: The key

  /// The key of the sealed fields.
  func dataKey(of store: OpenStore) throws(StoreError) -> SealingKey {
    if let held { return held.key }
    guard case .key = store.header.sealing else { throw .locked }
    guard let path = source.keyPath else { throw .passphraseNotUsed }
    guard let key = try keyOfSource() else { throw .keyMissing(path: path) }
    guard let dataKey = store.header.dataKey(openedWith: key) else { throw .keyWrong(path: path) }
    held = (store.header.sealedDataKey, dataKey)
    return dataKey
  }

  /// Keeps a key that a passphrase has opened; false if the store is another one by now.
  func hold(_ dataKey: SealingKey, of header: StoreHeader) throws(StoreError) -> Bool {
    guard let store = try current(), store.header.sealedDataKey == header.sealedDataKey else { return false }
    held = (header.sealedDataKey, dataKey)
    return true
  }

  func forgetKey() { held = nil }

  var lockState: StoreLockState {
    if held != nil { return .unlocked }
    // What keeps the store from being read is told by whoever reads it.
    let found = try? current()
    if case .passphrase = found?.header.sealing { return .locked }
    return found == nil && source == .passphrase ? .locked : .unlocked
  }

  /// The store, made if there is none, and the key of its fields.
  func opened() throws(StoreError) -> (OpenStore, SealingKey) {
    var store = try current()
    if store == nil {
      guard let path = source.keyPath else { throw .locked }
      var key = try keyOfSource()
      if key == nil, case .file = source { key = try StoreKeyFile.create(path) }
      guard let key else { throw .keyMissing(path: path) }
      store = try create(dataKey: SealingKey(), sealedWith: key, .key)
    }
    guard let store else { throw .unusable(path: files.database, reason: "it was removed") }
    return (store, try dataKey(of: store))
  }

  private func keyOfSource() throws(StoreError) -> SealingKey? {
    switch source {
    case .file(let path): return try StoreKeyFile.read(path, isOwn: true)
    case .systemd(_, .none), .passphrase: return nil
    case .systemd(let name, .some(let directory)): return try StoreKeyFile.read("\(directory)/\(name)", isOwn: false)
    }
  }

  // MARK: Changes

  /// Writes in one transaction, and counts it.
  @discardableResult
  func write<Result>(
    _ store: OpenStore, _ body: (Database) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let result = try store.database.transaction(steps) { () throws(StoreError) in
      guard try store.isCurrent else { throw .conflict }
      return try body(store.database)
    }
    changes += 1
    return result
  }

  func changeCounter() throws(StoreError) -> UInt64 {
    guard let store = try current() else { return changes }
    // It changes with what others write, not with what this connection does.
    let version = try store.database.integer("PRAGMA data_version")
    if let seen = dataVersionSeen, seen != version { changes += 1 }
    dataVersionSeen = version
    return changes
  }
}
