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
  /// Told when a credential can't serve because of a secret of the set-up, once until that is another one, from any thread.
  package let troubles: @Sendable (CredentialTrouble) -> Void
  package let secrets: SecretAnnouncer
  /// Shared with the data plane: an origin has one clock, whatever it is asked for.
  package let skews: ClockSkewTable

  package init(
    http: any HTTPSending, time: any TimeSource = SystemTime(),
    sleep: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },  // cancelled is over, too
    events: @escaping @Sendable (OAuthEvent) -> Void = { _ in },
    troubles: @escaping @Sendable (CredentialTrouble) -> Void = { _ in }, secrets: SecretAnnouncer,
    skews: ClockSkewTable = ClockSkewTable()
  ) {
    self.http = http
    self.time = time
    self.sleep = sleep
    self.events = events
    self.troubles = troubles
    self.secrets = secrets
    self.skews = skews
  }
}

/// Tells the redactor which values must never show. Each `hold` is undone by one `release`; a value may be held several times.
package struct SecretAnnouncer: Sendable {
  /// A value that this throws for must not be used: it would show.
  package let hold: @Sendable (Secret) throws(UnmaskableSecret) -> Void
  package let release: @Sendable (Secret) -> Void

  package init(
    hold: @escaping @Sendable (Secret) throws(UnmaskableSecret) -> Void,
    release: @escaping @Sendable (Secret) -> Void
  ) {
    self.hold = hold
    self.release = release
  }

  /// Holds all of `secrets`, or none.
  func hold(all secrets: [Secret]) throws(UnmaskableSecret) {
    var held: [Secret] = []
    do throws(UnmaskableSecret) {
      for secret in secrets {
        try hold(secret)
        held.append(secret)
      }
    } catch {
      held.forEach(release)
      throw error
    }
  }
}

/// Why the redactor can't keep a value out of the log. Holds nothing of the value.
package enum UnmaskableSecret: Error, Sendable, Equatable {
  case tooShort(bytesMin: Int)
  case tooLong(bytesMax: Int)
  /// So many others are held.
  case tooMany(countMax: Int)

  /// A short stable word.
  var code: String {
    switch self {
    case .tooShort: "secret_too_short"
    case .tooLong: "secret_too_long"
    case .tooMany: "too_many_secrets"
    }
  }

  var detail: String {
    switch self {
    case .tooShort(let bytesMin):
      "it has fewer than \(bytesMin) bytes, too few to be kept out of the log, so it is not used"
    case .tooLong(let bytesMax):
      "it has more than \(bytesMax) bytes, too many to be kept out of the log, so it is not used"
    case .tooMany(let countMax):
      "\(countMax) other secrets are kept out of the log, which is the most, so it is not used"
    }
  }

  /// One thing to do about it.
  var next: String {
    switch self {
    case .tooShort(let bytesMin): "Use a secret of at least \(bytesMin) bytes"
    case .tooLong(let bytesMax): "Use a secret of at most \(bytesMax) bytes"
    case .tooMany: "Configure fewer credentials"
    }
  }
}

/// A credential that can't serve because of a secret of the set-up. Its texts are ours and hold no secret.
package struct CredentialTrouble: Sendable, Equatable {
  package let credential: String
  /// A short stable word.
  package let code: String
  package let detail: String
  /// One thing to do.
  package let next: String
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
