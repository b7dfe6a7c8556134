package import Cryptography

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
