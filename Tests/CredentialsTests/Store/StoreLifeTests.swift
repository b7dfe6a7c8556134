import Cryptography
import Foundation
import Locking
import Testing

@testable import Credentials

@Suite struct StoreLifeTests {
  @Test func `a store that another process makes, replaces or removes is found as it is`() throws {
    let fixture = try StoreFixture()
    #expect(try fixture.store.records().isEmpty)
    let grant = StoreFixture.grant()
    do { try fixture.another().insert(grant, tokens: [], replacing: nil) }
    #expect(try fixture.store.grant(grant.record.id) != nil)
    var counter = try fixture.store.changeCounter()

    let other = try StoreFixture()
    let key = SQLiteCredentialStore(directory: other.state, key: .file(path: fixture.keyPath))
    let newer = StoreFixture.grant("newer")
    try key.insert(newer, tokens: [], replacing: nil)
    try Database(path: other.databasePath).run("PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in ["-wal", "-shm"] { unlink(fixture.databasePath + suffix) }
    try #require(rename(other.databasePath, fixture.databasePath) == 0)
    #expect(try fixture.store.records().map(\.account) == ["newer"])
    #expect(try fixture.store.grant(newer.record.id)?.secrets.all == newer.secrets.all)
    #expect(try fixture.store.changeCounter() != counter)
    counter = try fixture.store.changeCounter()

    try FileManager.default.removeItem(atPath: fixture.state)
    #expect(try fixture.store.records().isEmpty)
    #expect(try fixture.store.changeCounter() != counter)
    try fixture.insert("anew")
    #expect(try fixture.another().records().map(\.account) == ["anew"])
  }

  @Test func `threads with a store each lose no change`() throws {
    let fixture = try StoreFixture()
    let id = try fixture.insert().record.id
    let stores = (0..<4).map { _ in fixture.another() }
    let failures = Protected<[String]>([])
    DispatchQueue.concurrentPerform(iterations: stores.count) { index in
      var done = 0
      while done < 10 {
        do throws(StoreError) {
          guard var grant = try stores[index].grant(id) else { throw .conflict }
          grant.record.rotation += 1
          _ = try stores[index].update(grant, tokens: [], endingIntent: true)
          done += 1
        } catch  where error == .conflict {
        } catch {
          failures.withLock { $0.append(error.detail) }
          return
        }
      }
    }
    #expect(failures.withLock { $0 }.isEmpty)
    let record = try #require(try fixture.store.records().first)
    #expect(record.rotation == 40 && record.revision == 40)
  }

  @Test func `stores made at the same time are one store with one key`() throws {
    let fixture = try StoreFixture()
    let stores = (0..<8).map { _ in fixture.another() }
    let failures = Protected<[String]>([])
    DispatchQueue.concurrentPerform(iterations: stores.count) { index in
      do throws(StoreError) {
        try stores[index].insert(StoreFixture.grant("a\(index)"), tokens: [], replacing: nil)
      } catch {
        failures.withLock { $0.append(error.detail) }
      }
    }
    #expect(failures.withLock { $0 }.isEmpty)
    let records = try fixture.store.records()
    #expect(records.count == 8 && records.filter(\.isDefault).count == 1)
    for record in records { #expect(try fixture.another().grant(record.id) != nil) }
    #expect(try fixture.folder.entries(of: "config") == ["store.key"])
  }

  @Test func `what is written before the commit is not there after a crash, what is committed is`() throws {
    let folder = try TemporaryFolder()
    let state = folder.file("state")
    let step = Protected<[String]>([])
    let store = SQLiteCredentialStore(directory: state, key: .file(path: folder.file("store.key"))) { at in
      let name = if case .committed = at { "committed" } else { "uncommitted" }
      let copy = folder.file("\(name)-\(step.withLock { $0.count })")
      // A copy of the files is what a crash leaves: what is not in them is lost.
      try? FileManager.default.copyItem(atPath: state, toPath: copy)
      step.withLock { $0.append(copy) }
    }
    let grant = StoreFixture.grant()
    try store.insert(grant, tokens: [], replacing: nil)
    var changed = grant
    changed.secrets.refreshToken = StoreFixture.secret("rotated")
    changed.record.rotation = 1
    _ = try store.update(changed, tokens: [StoreFixture.token()], endingIntent: true)
    let copies = step.withLock { $0 }
    #expect(copies.count == 6)  // the making of the store, the insertion, the update
    let seen = try copies.map { copy in
      let read = SQLiteCredentialStore(directory: copy, key: .file(path: folder.file("store.key")))
      return try read.grant(grant.record.id).map {
        "\($0.record.rotation) \(try read.tokens(of: grant.record.id).count)"
      }
    }
    #expect(seen == [nil, nil, nil, "0 0", "0 0", "1 1"])
  }

  @Test func `a store of format 1 opens with all it had, and is of the current format then`() throws {
    let folder = try TemporaryFolder()
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/format-1")
    try FileManager.default.createDirectory(
      atPath: folder.file("state"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for (name, copy) in [("credentials.sqlite", "state/credentials.sqlite"), ("store.key", "store.key")] {
      try Data(contentsOf: fixture.appending(path: name)).write(to: URL(filePath: folder.file(copy)))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file(copy))
    }
    let path = folder.file("state/credentials.sqlite")
    #expect(try Database(path: path).integer("PRAGMA user_version") == 1)
    for _ in 1...2 {
      let store = SQLiteCredentialStore(directory: folder.file("state"), key: .file(path: folder.file("store.key")))
      let records = try store.records()
      #expect(records.map(\.account) == ["", "work"])
      // In format 1 both could be the default; the earlier one stays it.
      #expect(records.map(\.isDefault) == [false, true])
      for record in records {
        let grant = try #require(try store.grant(record.id))
        #expect(grant.secrets.refreshToken == StoreFixture.secret("refresh"))
        #expect(grant.secrets.all.allSatisfy { $0 != nil })
        #expect(try store.token(of: record.id, target: "a")?.accessToken == StoreFixture.secret("access"))
      }
      #expect(try Database(path: path).integer("PRAGMA user_version") == Int64(StoreFormat.current))
    }
    #expect(throws: StoreError.self) { try Database(path: path).run("UPDATE grants SET is_default = 1") }
  }
}
