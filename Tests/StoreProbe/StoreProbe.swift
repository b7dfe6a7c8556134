import Credentials
import Cryptography
import Glibc

/// A process that works on a credential store, for tests that need several or kill one.
///
///     StoreProbe STATE KEY-FILE insert ACCOUNT            stores a grant, prints its identity
///     StoreProbe STATE KEY-FILE fill                      stores grants until that fails, prints how many
///     StoreProbe STATE KEY-FILE records                   prints ACCOUNT ROTATION of each grant, and opens each
///     StoreProbe STATE KEY-FILE rotate GRANT TIMES        changes a grant so often, in the face of others that do
///     StoreProbe STATE KEY-FILE die uncommitted|committed GRANT    changes a grant and dies on the way
///     StoreProbe STATE KEY-FILE lease GRANT               takes a lease and keeps it until standard input ends
///
/// What the store refuses is printed as `refused CODE`, and is exit code 1.
@main struct StoreProbe {
  static func main() {
    signal(SIGXFSZ, SIG_IGN)
    let words = CommandLine.arguments
    guard words.count >= 4 else { exit(2) }
    do throws(StoreError) {
      try Probe(state: words[1], keyPath: words[2]).run(words[3], Array(words[4...]))
    } catch {
      say("refused \(error.code)")
      exit(1)
    }
  }
}

struct Probe {
  let state: String
  let keyPath: String

  private func store(_ steps: @escaping @Sendable (StoreStep) -> Void = { _ in }) -> SQLiteCredentialStore {
    SQLiteCredentialStore(directory: state, key: .file(path: keyPath), steps: steps)
  }

  func run(_ command: String, _ words: [String]) throws(StoreError) {
    let store = store()
    switch (command, words.count) {
    case ("insert", 1): say(try insert(words[0], store).text)
    case ("fill", 0): fill(store)
    case ("records", 0):
      for record in try store.records() {
        _ = try store.grant(record.id)
        for token in try store.tokens(of: record.id) { _ = try store.token(of: record.id, target: token.target) }
        say("\(record.account) \(record.rotation)")
      }
    case ("rotate", 2): try rotate(GrantID(words[0]), times: Int(words[1]) ?? 0, store)
    case ("die", 2):
      let uncommitted = words[0] == "uncommitted"
      let fatal = self.store {
        let isHere = if case .uncommitted = $0 { uncommitted } else { !uncommitted }
        if isHere { kill(getpid(), SIGKILL) }
      }
      try rotate(GrantID(words[1]), times: 1, fatal)
    case ("lease", 1):
      guard let lease = try store.lease(GrantID(words[0])) else { return say("busy") }
      say("taken")
      while readLine() != nil {}
      lease.release()
    default: exit(2)
    }
  }

  private func insert(_ account: String, _ store: SQLiteCredentialStore) throws(StoreError) -> GrantID {
    let grant = StoredGrant(
      record: GrantRecord(
        id: .random(), profile: "acme", account: account, tags: ["probe"], issuer: "https://id.example.com",
        clientID: "abc", origins: ["https://id.example.com"], scope: ["openid"], createdAtUnixSeconds: 1_796_000_000),
      secrets: GrantSecrets(
        refreshToken: secret("refresh"), previousRefreshToken: secret("previous"), idToken: secret("id"),
        proofKey: secret("key"), authorizationServerNonce: secret("nonce")))
    let token = StoredToken(
      target: "a", accessToken: secret("access"), scheme: "DPoP", receivedAtWallNanoseconds: 1,
      receivedAtBootNanoseconds: 2, bootID: "boot", expiresInSeconds: 300)
    try store.insert(grant, tokens: [token], replacing: nil)
    return grant.record.id
  }

  private func fill(_ store: SQLiteCredentialStore) {
    var count = 0
    do throws(StoreError) {
      while count < 10_000 {
        _ = try insert("filler-\(count)", store)
        count += 1
      }
    } catch {
      say("refused \(error.code)")
    }
    say("\(count)")
  }

  private func rotate(_ id: GrantID, times: Int, _ store: SQLiteCredentialStore) throws(StoreError) {
    var done = 0
    while done < times {
      guard var grant = try store.grant(id) else { throw .conflict }
      grant.record.rotation += 1
      grant.secrets.previousRefreshToken = grant.secrets.refreshToken
      do throws(StoreError) {
        _ = try store.update(grant, tokens: [], endingIntent: true)
        done += 1
      } catch  where error == .conflict {}  // somebody was faster: read again
    }
  }

  private func secret(_ name: String) -> Secret { Secret(utf8: "sentinel-51e07c-\(name)") }
}

/// One line, at once: whoever started us waits for it.
private func say(_ text: String) {
  let line = Array("\(text)\n".utf8)
  _ = write(STDOUT_FILENO, line, line.count)
}
