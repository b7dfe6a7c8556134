import Configuration
import Console
import Credentials
import EventLoop
import Glibc
import HTTPWire
import Tracing

/// What the admin API says of the running daemon. No secret is reachable from here but in the words of an issuer, which may
/// repeat what it was sent; those are masked when the answer is made.
struct StatusReport: Sendable {
  let configuration: Configuration
  /// With the ports that were picked.
  let listeners: [ListenAddress]
  let accounts: AccountBook
  let hub: RecordHub
  let startedAtUnixSeconds = SystemTime().wallNanoseconds / 1_000_000_000

  /// `GET /v1/status`.
  var status: JSONValue {
    .object([
      ("version", .string(Daemon.version)),
      ("pid", .number(String(getpid()))),
      ("started_at", .number(String(startedAtUnixSeconds))),
      ("configuration", .string(configuration.file)),
      ("listeners", .array(listeners.map { .string($0.description) })),
      ("routes", .number(String(configuration.routes.count))),
      ("credentials", .array(accounts.statuses().map(\.json))),
      ("log", log),
    ])
  }

  private var log: JSONValue {
    let file = configuration.log.file.map { [("file", JSONValue.string($0))] } ?? []
    let failure = hub.failure.map { [("failure", JSONValue.string($0))] } ?? []
    return .object(file + [("dropped", .number(String(hub.droppedCount)))] + failure)
  }

  /// `GET /v1/routes`.
  var routes: JSONValue {
    .array(EffectiveRoute.all(configuration, listeners: listeners).map(\.json))
  }
}
