import Cryptography
import Foundation
import Testing

@testable import Credentials

@Suite struct StoreTroubleTests {
  static let isRoot = geteuid() == 0

  private func change(mode: Int, of path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  private func mode(of path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test func `all files are their owner's alone`() throws {
    let fixture = try StoreFixture()
    let lease = try fixture.store.lease(fixture.insert().record.id)
    for name in ["state", "state/leases", "config"] { #expect(try mode(of: fixture.folder.file(name)) == 0o700) }
    let files =
      try fixture.folder.entries(of: "state/leases").map { "state/leases/\($0)" } + [
        "state/credentials.sqlite", "state/credentials.sqlite-wal", "state/credentials.sqlite-shm", "config/store.key",
      ]
    #expect(files.count == 5)
    for name in files { #expect(try mode(of: fixture.folder.file(name)) == 0o600, "\(name)") }
    lease?.release()
  }

  @Test(
    arguments: ["state", "state/credentials.sqlite", "state/credentials.sqlite-wal"], [0o640, 0o604, 0o620, 0o602])
  func `what others may read or write is not used`(name: String, bits: Int) throws {
    let fixture = try StoreFixture()
    try fixture.insert()
    let path = fixture.folder.file(name)
    let right = try mode(of: path)
    try change(mode: right | bits, of: path)
    for store in [fixture.store, fixture.another()] {
      #expect(throws: StoreError.openToOthers(path: path)) { try store.records() }
    }
    try change(mode: right, of: path)
    #expect(try fixture.store.records().count == 1)
  }

  @Test func `a key file that others may read is not used`() throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    try change(mode: 0o640, of: fixture.keyPath)
    let next = fixture.another()
    #expect(throws: StoreError.openToOthers(path: fixture.keyPath)) { try next.grant(grant.record.id) }
    #expect(try next.records().count == 1)
  }

  @Test(.enabled(if: isRoot), arguments: ["state", "state/credentials.sqlite", "config/store.key"])
  func `what belongs to another user is not used`(name: String) throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    let path = fixture.folder.file(name)
    try #require(chown(path, 65_534, 65_534) == 0)
    #expect(throws: StoreError.unusable(path: path, reason: "it belongs to another user")) {
      try fixture.another().grant(grant.record.id)
    }
  }

  @Test func `a link is not taken for the store, and the folder may be one`() throws {
    let fixture = try StoreFixture()
    try fixture.insert()
    try FileManager.default.createSymbolicLink(
      atPath: fixture.folder.file("link"), withDestinationPath: fixture.state)
    let linked = SQLiteCredentialStore(directory: fixture.folder.file("link"), key: .file(path: fixture.keyPath))
    #expect(try linked.records().count == 1)
    try FileManager.default.moveItem(atPath: fixture.databasePath, toPath: fixture.folder.file("elsewhere"))
    try FileManager.default.createSymbolicLink(
      atPath: fixture.databasePath, withDestinationPath: fixture.folder.file("elsewhere"))
    #expect(throws: StoreError.unusable(path: fixture.databasePath, reason: "it is a symbolic link")) {
      try fixture.another().records()
    }
  }

  @Test func `a store whose key is gone says so, gets no new one, and works again when it is back`() throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    let kept = fixture.folder.file("kept")
    try FileManager.default.moveItem(atPath: fixture.keyPath, toPath: kept)
    let next = fixture.another()
    let missing = StoreError.keyMissing(path: fixture.keyPath)
    #expect(throws: missing) { try next.grant(grant.record.id) }
    #expect(throws: missing) { try next.tokens(of: grant.record.id) }
    #expect(throws: missing) { try next.insert(StoreFixture.grant("new"), tokens: [], replacing: nil) }
    #expect(throws: missing) { try next.update(grant, tokens: [], endingIntent: false) }
    #expect(!FileManager.default.fileExists(atPath: fixture.keyPath))
    #expect(try next.records().count == 1)
    #expect(try next.update(grant.record, endingIntent: false).revision == 1)
    try FileManager.default.moveItem(atPath: kept, toPath: fixture.keyPath)
    #expect(try next.grant(grant.record.id)?.secrets.all == grant.secrets.all)
  }

  @Test func `another key, and what is no key, are told apart`() throws {
    let (fixture, other) = (try StoreFixture(), try StoreFixture())
    let grant = try fixture.insert()
    try other.insert()
    let text = try other.folder.text(of: "config/store.key")
    try fixture.folder.write(text, to: "other")
    let path = fixture.folder.file("other")
    #expect(throws: StoreError.keyWrong(path: path)) {
      try fixture.another(key: .file(path: path)).grant(grant.record.id)
    }
    for wrong in [
      "", "\n", "x", String(text.dropLast(3)), text + "x", text.replacing("key 1", with: "key 2"), "\(text)\(text)",
    ] {
      try fixture.folder.write(wrong, to: "other")
      #expect(throws: StoreError.keyMalformed(path: path)) {
        try fixture.another(key: .file(path: path)).grant(grant.record.id)
      }
    }
  }

  @Test func `a store from the future is told of and not touched`() throws {
    let fixture = try StoreFixture()
    do {
      let store = fixture.another()
      try store.insert(StoreFixture.grant(), tokens: [], replacing: nil)
    }
    try fixture.alter("PRAGMA user_version = 99")
    let before = try Data(contentsOf: URL(filePath: fixture.databasePath))
    let future = StoreError.fromTheFuture(version: 99, knownVersion: StoreFormat.current)
    #expect(throws: future) { try fixture.store.records() }
    #expect(throws: future) { try fixture.insert("new") }
    #expect(try Data(contentsOf: URL(filePath: fixture.databasePath)) == before)
  }

  @Test func `a store that a later proofd takes over is not written to any more`() throws {
    let fixture = try StoreFixture()
    try fixture.insert("work")
    try fixture.alter("PRAGMA user_version = 99")
    let future = StoreError.fromTheFuture(version: 99, knownVersion: StoreFormat.current)
    #expect(throws: future) { try fixture.store.records() }
    #expect(throws: future) { try fixture.insert("new") }
    try fixture.alter("PRAGMA user_version = \(StoreFormat.current)")
    #expect(try fixture.store.records().map(\.account) == ["work"])
  }

  @Test func `a backup that is put into the same file while it is open is taken as it is`() throws {
    let fixture = try StoreFixture()
    try fixture.insert("work")
    let keys = try Database(path: fixture.databasePath).rows("SELECT data_key FROM store") { $0.blobOrNil(0) }
    let key = try #require(keys.first ?? nil)
    try fixture.alter("UPDATE store SET data_key = ?", [.blob(key.dropLast() + [key[key.count - 1] ^ 1])])
    #expect(throws: StoreError.keyWrong(path: fixture.keyPath)) { try fixture.insert("new") }
    try fixture.alter("UPDATE store SET data_key = ?", [.blob(key)])
    #expect(try fixture.insert("new").record.account == "new")
  }

  @Test func `what is no store is told of and not touched`() throws {
    let fixture = try StoreFixture()
    try FileManager.default.createDirectory(
      atPath: fixture.state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let no = StoreError.notAStore(path: fixture.databasePath)
    try put("This is a diary.\n" + String(repeating: "Today nothing happened. ", count: 99), fixture.databasePath)
    #expect(throws: no) { try fixture.store.records() }
    #expect(throws: no) { try fixture.insert() }
    try put("", fixture.databasePath)
    try fixture.alter("CREATE TABLE diary (day TEXT)")
    #expect(throws: no) { try fixture.another().records() }
    #expect(throws: no) { try fixture.another().insert(StoreFixture.grant(), tokens: [], replacing: nil) }
    #expect(!FileManager.default.fileExists(atPath: fixture.keyPath))
  }

  private func put(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
    try change(mode: 0o600, of: path)
  }

  @Test func `a store with broken pages is unusable, and nothing is written over it`() throws {
    let fixture = try StoreFixture()
    do { try fixture.another().insert(StoreFixture.grant(), tokens: [], replacing: nil) }
    var bytes = try Data(contentsOf: URL(filePath: fixture.databasePath))
    for index in 4096..<bytes.count { bytes[index] = 0x55 }
    let file = try FileHandle(forWritingTo: URL(filePath: fixture.databasePath))
    try file.write(contentsOf: bytes)
    try file.close()
    #expect(throws: StoreError.unusable(path: fixture.databasePath, reason: "the file is damaged")) {
      try fixture.another().records()
    }
    #expect(try Data(contentsOf: URL(filePath: fixture.databasePath)) == bytes)
  }

  @Test func `a store that another keeps locked is busy, can be read, and nothing is lost`() throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    let store = SQLiteCredentialStore(
      directory: fixture.state, key: .file(path: fixture.keyPath), busyMilliseconds: 20)
    let holder = try Database(path: fixture.databasePath)
    try holder.run("BEGIN IMMEDIATE")
    #expect(throws: StoreError.busy(path: fixture.databasePath)) {
      try store.insert(StoreFixture.grant("new"), tokens: [], replacing: nil)
    }
    #expect(throws: StoreError.busy(path: fixture.databasePath)) {
      try store.update(grant, tokens: [], endingIntent: false)
    }
    #expect(try store.grant(grant.record.id)?.secrets.all == grant.secrets.all)
    try holder.run("ROLLBACK")
    #expect(try store.update(grant, tokens: [], endingIntent: false).record.revision == 1)
  }

  @Test func `a store without room says so, keeps what it has and takes more later`() throws {
    let fixture = try StoreFixture()
    try fixture.insert()
    let database = try Database(path: fixture.databasePath)
    try database.run("PRAGMA max_page_count = 1")
    let full = #expect(throws: StoreError.self) {
      while true {
        try database.run("INSERT INTO store (id, created_at, data_key) VALUES (random(), 1, zeroblob(9000))")
      }
    }
    #expect(full == .diskFull(path: fixture.databasePath))
    #expect(try fixture.store.records().count == 1)
  }

  @Test func `every failure has a word, a text and one thing to do, and no secret`() {
    let errors: [StoreError] = [
      .locked, .passphraseWrong, .passphraseNotUsed, .keyMissing(path: "/k"), .keyWrong(path: "/k"),
      .keyMalformed(path: "/k"), .damaged(record: "acme/work", field: "the ID token"), .conflict, .nameTaken,
      .fromTheFuture(version: 3, knownVersion: 2), .notAStore(path: "/k"), .openToOthers(path: "/k"),
      .diskFull(path: "/k"), .readOnly(path: "/k"), .busy(path: "/k"), .unusable(path: "/k", reason: "no"),
    ]
    #expect(Set(errors.map(\.code)).count == errors.count)
    for error in errors { #expect(!error.detail.hasSuffix(".") && error.next.hasSuffix(".")) }
  }

  @Test(arguments: [
    (ENOSPC, "disk_full"), (EDQUOT, "disk_full"), (EFBIG, "disk_full"), (EROFS, "store_read_only"),
    (EACCES, "store_read_only"), (EPERM, "store_read_only"), (EIO, "store_unusable"),
  ])
  func `what the system says decides what a failed write means`(number: Int32, code: String) {
    #expect(StoreError(systemError: number, path: "/k").code == code)
    // SQLITE_IOERR_WRITE
    #expect(StoreError(sqlite: 10 | 3 << 8, systemErrors: [ENOENT, number], path: "/").code == code)
  }
}
