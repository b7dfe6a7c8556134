package import Cryptography
package import EventLoop
package import HTTPWire
package import OAuth

/// What credentials need of the world, so that tests can be the world.
package struct CredentialEnvironment: Sendable {
  package let http: any HTTPSending
  package let time: any TimeSource
  package let sleep: @Sendable (Duration) async -> Void
  /// Told of each call of an authorization server, from any thread.
  package let events: @Sendable (OAuthEvent) -> Void
  package let secrets: SecretAnnouncer
  /// Shared with the data plane: an origin has one clock, whatever it is asked for.
  package let skews: ClockSkewTable

  package init(
    http: any HTTPSending, time: any TimeSource = SystemTime(),
    sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },  // cancelled is over, too
    events: @escaping @Sendable (OAuthEvent) -> Void = { _ in }, secrets: SecretAnnouncer,
    skews: ClockSkewTable = ClockSkewTable()
  ) {
    self.http = http
    self.time = time
    self.sleep = sleep
    self.events = events
    self.secrets = secrets
    self.skews = skews
  }
}

/// Tells the redactor which values must never show. Each `hold` is undone by one `release`; a value may be held several times.
package struct SecretAnnouncer: Sendable {
  package let hold: @Sendable (Secret) -> Void
  package let release: @Sendable (Secret) -> Void

  package init(hold: @escaping @Sendable (Secret) -> Void, release: @escaping @Sendable (Secret) -> Void) {
    self.hold = hold
    self.release = release
  }
}

/// One call of an authorization server, for the log.
package struct OAuthEvent: Sendable, Equatable {
  package enum Step: String, Sendable {
    case discovery, token
  }
  package let credential: String
  package let step: Step
  package let method: String
  /// Without query.
  package let url: String
  /// Of the last answer; nil if there was none.
  package let status: Int?
  package let durationNanoseconds: Int64
  /// How often the request was sent: twice after a nonce challenge.
  package let attempts: Int
  /// An OAuth error code or one of our own; nil if all went well.
  package let errorCode: String?
}
