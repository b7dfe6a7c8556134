import Cryptography
import EventLoop
import Locking

/// Reads a secret of the set-up, and keeps the redactor told of the one that is in use. Any task.
final class HeldSecretReader: Sendable {
  let reader: SecretReader
  private let announcer: SecretAnnouncer
  private let held = Protected<Secret?>(nil)

  init(_ origin: SecretOrigin, environment: CredentialEnvironment) {
    reader = SecretReader(
      origin, reread: TokenSource.rereadDefault, time: environment.time, withheld: environment.secretVariables)
    announcer = environment.secrets
  }

  deinit { if let held = held.withLock({ $0 }) { announcer.release(held) } }

  var warnings: [String] { reader.warnings }

  /// The value as it is now; the redactor knows it before anybody else does.
  ///
  /// - Parameter anew: don't answer from memory, whatever the age.
  func read(anew: Bool = false) async throws(FetchFailure) -> Secret {
    let value = try await reader.read(anew: anew)
    do throws(UnmaskableSecret) {
      try hold(value)
    } catch {
      throw reader.failure(.unmaskable(error))
    }
    return value
  }

  private func hold(_ secret: Secret) throws(UnmaskableSecret) {
    guard held.withLock({ $0 != secret }) else { return }
    try announcer.hold(secret)
    let replaced = held.withLock { held in
      defer { held = secret }
      return held
    }
    if let replaced { announcer.release(replaced) }
  }

  /// What signs with the value that was read.
  ///
  /// - Throws: what is wrong with it, and where it comes from.
  func signer(_ make: () throws(CryptographyError) -> JWSSigner) throws(FetchFailure) -> JWSSigner {
    do throws(CryptographyError) {
      return try make()
    } catch {
      throw FetchFailure(
        kind: .refused, code: "signing_key_unusable", detail: "\(reader.place): \(error)",
        next: "Give a private key as PEM or JWK, or a secret of 32 bytes, that makes such signatures", isOfSetUp: true)
    }
  }
}
