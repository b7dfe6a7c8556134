import Configuration
import Testing

@Suite struct `The store` {
  private func store(_ text: String) -> String { "routes: {}\nstore: {\(text)}" }

  @Test(arguments: [
    ("", StoreConfiguration(key: .file("/home/me/.config/proofd/store.key"))),
    ("key: file", StoreConfiguration(key: .file("/home/me/.config/proofd/store.key"))),
    ("key: {file: ~/k}, unlock: none", StoreConfiguration(key: .file("/home/me/k"))),
    ("key: {file: k}", StoreConfiguration(key: .file("/etc/proofd/k"))),
    ("key: {systemd: proofd-store.key}", StoreConfiguration(key: .systemd(name: "proofd-store.key"))),
    ("key: passphrase", StoreConfiguration(key: .passphrase, unlock: .untilLocked)),
    ("key: passphrase, unlock: default", StoreConfiguration(key: .passphrase, unlock: .untilLocked)),
    (
      "key: passphrase, unlock: session, unlock_for: 8h",
      StoreConfiguration(key: .passphrase, unlock: .session(.seconds(28_800)))
    ),
    (
      "key: passphrase, unlock: app_lifecycle",
      StoreConfiguration(key: .passphrase, unlock: .appLifecycle(.seconds(3600)))
    ),
    (
      "key: passphrase, unlock: app_lifecycle, unlock_for: 10s",
      StoreConfiguration(key: .passphrase, unlock: .appLifecycle(.seconds(10)))
    ),
  ])
  func `has a key and a policy`(_ text: String, _ value: StoreConfiguration) throws {
    #expect(problems(store(text)) == [])
    #expect(try configuration(store(text)).store == value)
  }

  @Test func `has its key where the configuration is by default`() throws {
    func key(home: String?, configHome: String? = nil) -> StoreConfiguration.Key? {
      let surroundings = Configuration.Surroundings(
        baseDirectory: "/etc/proofd", home: home, stateHome: "/state", configHome: configHome)
      return Configuration.parse(bytes: Array("routes: {}".utf8), fileName: "f", surroundings: surroundings)
        .configuration?.store.key
    }
    #expect(key(home: "/home/me", configHome: "/config") == .file("/config/proofd/store.key"))
    #expect(key(home: "/home/me") == .file("/home/me/.config/proofd/store.key"))
    #expect(key(home: nil) == .file("/etc/proofd/store.key"))
  }

  @Test func `that is opened for each use can't serve the gateway, which is said`() throws {
    let text = store("key: passphrase, unlock: always")
    #expect(
      problems(text) == [
        "2:34: warning: store.unlock: the gateway can't send a login by itself then: it answers locked, and only commands that ask for the passphrase can use the store"
      ])
    #expect(parse(text).configuration?.store == StoreConfiguration(key: .passphrase, unlock: .always))
  }

  private static let keys = "must be file, passphrase, {file: PATH} or {systemd: NAME}"
  private static let typed = "needs key: passphrase; a key from a file or from systemd is read at start"
  private static let timed = "has a meaning with unlock: session or app_lifecycle only"

  @Test(arguments: [
    Mistake("key: systemd", "2:14: error: store.key: \(keys)"),
    Mistake("key: /etc/key", "2:14: error: store.key: \(keys)"),
    Mistake("key: [file]", "2:14: error: store.key: \(keys), not a list"),
    Mistake("key: {}", "2:14: error: store.key: must be exactly one of {file: PATH} and {systemd: NAME}"),
    Mistake(
      "key: {file: a, systemd: b}", "2:14: error: store.key: must be exactly one of {file: PATH} and {systemd: NAME}"),
    Mistake(
      "key: {systemd: a/b}", "2:24: error: store.key.systemd: must be the name of a systemd credential, without / and :"
    ),
    Mistake(
      "key: {systemd: ..}", "2:24: error: store.key.systemd: must be the name of a systemd credential, without / and :"),
    Mistake("unlock: default", "2:17: error: store.unlock: \(typed)"),
    Mistake("key: {systemd: k}, unlock: always", "2:36: error: store.unlock: \(typed)"),
    Mistake(
      "key: passphrase, unlock: none",
      "2:34: error: store.unlock: a passphrase has to be given: default, always, session or app_lifecycle"),
    Mistake(
      "key: passphrase, unlock: sessions",
      #"2:34: error: store.unlock: must be one of none, default, always, session, app_lifecycle; did you mean "session"?"#
    ),
    Mistake(
      "key: passphrase, unlock: session", "2:1: error: store.unlock_for: is required by unlock: session"),
    Mistake(
      "key: passphrase, unlock: session, unlock_for: 9s", "2:55: error: store.unlock_for: must be from 10s to 24h"),
    Mistake(
      "key: passphrase, unlock: app_lifecycle, unlock_for: 25h",
      "2:61: error: store.unlock_for: must be from 10s to 24h"
    ),
    Mistake("key: passphrase, unlock_for: 1h", "2:26: error: store.unlock_for: \(timed)"),
    Mistake("unlock_for: 1h", "2:9: error: store.unlock_for: \(timed)"),
    Mistake("keyfile: x", #"2:9: error: store.keyfile: unknown key"#),
  ])
  func `is refused`(_ mistake: Mistake) {
    #expect(problems(store(mistake.text)) == [mistake.problem])
  }
}
