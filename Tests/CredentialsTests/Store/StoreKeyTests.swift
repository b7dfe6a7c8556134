import Cryptography
import Foundation
import Testing

@testable import Credentials

@Suite struct StoreKeyTests {
  let fixture: StoreFixture
  let passphrase = Secret(utf8: "correct horse")
  let cost: Scrypt.Cost

  init() throws {
    fixture = try StoreFixture()
    cost = try #require(Scrypt.Cost(logN: 4, r: 8, p: 1))
  }

  private func store(_ key: StoreKeySource = .passphrase) -> SQLiteCredentialStore {
    SQLiteCredentialStore(directory: fixture.state, key: key, cost: cost)
  }

  @Test func `a passphrase makes the store, locks it and opens it again`() throws {
    let store = store()
    #expect(store.lockState == .locked)
    #expect(throws: StoreError.locked) { try store.insert(StoreFixture.grant(), tokens: [], replacing: nil) }
    #expect(throws: StoreError.passphraseWrong) { try store.unlock(passphrase: Secret([])) }
    #expect(try fixture.folder.entries().isEmpty)
    try store.unlock(passphrase: passphrase)
    #expect(store.lockState == .unlocked)
    let grant = StoreFixture.grant()
    try store.insert(grant, tokens: [StoreFixture.token()], replacing: nil)
    try store.lock()
    for locked in [store, self.store()] {
      #expect(locked.lockState == .locked)
      #expect(throws: StoreError.locked) { try locked.grant(grant.record.id) }
      #expect(throws: StoreError.locked) { try locked.token(of: grant.record.id, target: "a") }
      #expect(throws: StoreError.passphraseWrong) { try locked.unlock(passphrase: Secret(utf8: "wrong horse")) }
      #expect(locked.lockState == .locked)
      let record = try #require(try locked.records().first)
      #expect(try locked.update(record, endingIntent: false).revision == record.revision + 1)
    }
    let next = self.store()
    try next.unlock(passphrase: passphrase)
    #expect(try next.grant(grant.record.id)?.secrets.all == grant.secrets.all)
    #expect(!FileManager.default.fileExists(atPath: fixture.keyPath))
  }

  @Test func `a store says by itself that it takes a passphrase, or a key`() throws {
    try store().unlock(passphrase: passphrase)
    let other = store(.file(path: fixture.keyPath))
    #expect(throws: StoreError.locked) { try other.insert(StoreFixture.grant(), tokens: [], replacing: nil) }
    #expect(other.lockState == .locked)
    #expect(!FileManager.default.fileExists(atPath: fixture.keyPath))
    try other.unlock(passphrase: passphrase)
    try other.insert(StoreFixture.grant(), tokens: [], replacing: nil)

    let keyed = try StoreFixture()
    let id = try keyed.insert().record.id
    let mistaken = keyed.another(key: .passphrase)
    for call in [{ _ = try mistaken.grant(id) }, { try mistaken.unlock(passphrase: passphrase) }, mistaken.lock] {
      #expect(throws: StoreError.passphraseNotUsed) { try call() }
    }
    #expect(mistaken.lockState == .unlocked)
    #expect(throws: StoreError.passphraseNotUsed) { try keyed.store.lock() }
    #expect(throws: StoreError.passphraseNotUsed) { try StoreFixture().store.unlock(passphrase: passphrase) }
  }

  @Test(arguments: [
    "scrypt_log_n = 40", "scrypt_log_n = 20", "scrypt_r = 1000000", "scrypt_p = 100", "scrypt_log_n = NULL",
    "scrypt_log_n = -1",
  ])
  func `a file that asks for more memory than there should be is not obeyed`(change: String) throws {
    try store().unlock(passphrase: passphrase)
    try fixture.alter("UPDATE store SET \(change)")
    let store = store()
    #expect(
      throws: StoreError.unusable(
        path: fixture.databasePath, reason: "what it says of its passphrase is out of bounds")
    ) { try store.unlock(passphrase: passphrase) }
  }

  @Test func `systemd's credential opens what it made, and is never made`() throws {
    let missing = store(.systemd(name: "proofd.key", directory: nil))
    #expect(throws: StoreError.keyMissing(path: "$CREDENTIALS_DIRECTORY/proofd.key")) {
      try missing.insert(StoreFixture.grant(), tokens: [], replacing: nil)
    }
    let source = StoreKeySource.systemd(name: "proofd.key", directory: fixture.folder.path)
    #expect(throws: StoreError.keyMissing(path: fixture.folder.file("proofd.key"))) {
      try store(source).insert(StoreFixture.grant(), tokens: [], replacing: nil)
    }
    #expect(try fixture.folder.entries().isEmpty)
    try fixture.folder.write("12345678901234567890123456789012", to: "proofd.key", mode: 0o440)
    let grant = StoreFixture.grant()
    try store(source).insert(grant, tokens: [], replacing: nil)
    #expect(try store(source).grant(grant.record.id)?.secrets.all == grant.secrets.all)
    try fixture.folder.write("1234567890123456789012345678901", to: "proofd.key")
    #expect(throws: StoreError.keyMalformed(path: fixture.folder.file("proofd.key"))) {
      try store(source).grant(grant.record.id)
    }
  }
}
