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
  /// Told when a credential can't serve because of a secret of the set-up, once until that is another one, from any thread.
  package let troubles: @Sendable (CredentialTrouble) -> Void
  package let secrets: SecretAnnouncer
  /// Shared with the data plane: an origin has one clock, whatever it is asked for.
  package let skews: ClockSkewTable
  /// Environment variables that hold secrets: programs that are run for theirs do not get them.
  package let secretVariables: Set<String>

  package init(
    http: any HTTPSending, time: any TimeSource = SystemTime(),
    sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },  // cancelled is over, too
    events: @escaping @Sendable (OAuthEvent) -> Void = { _ in },
    troubles: @escaping @Sendable (CredentialTrouble) -> Void = { _ in }, secrets: SecretAnnouncer,
    skews: ClockSkewTable = ClockSkewTable(), secretVariables: Set<String> = []
  ) {
    self.http = http
    self.time = time
    self.sleep = sleep
    self.events = events
    self.troubles = troubles
    self.secrets = secrets
    self.skews = skews
    self.secretVariables = secretVariables
  }
}
