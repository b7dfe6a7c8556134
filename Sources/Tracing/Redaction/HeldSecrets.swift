package import Cryptography
import Locking

/// The exact values of every secret the process holds: the one layer of redaction that knows instead of guessing.
///
/// A value is recognised as it is, percent-encoded, escaped for JSON, in base64 or base64url at any offset, in hexadecimal
/// of either case, and in combinations of these. Feeding and searching go on at the same time on any threads. Beside the
/// value itself, which is not copied, each costs 300 to 550 bytes, whatever its length.
package final class HeldSecrets: Sendable {
  /// Why a value can't be masked, so that it must not be used.
  package enum Refusal: Error, Sendable, Equatable {
    /// Below 8 bytes it would blank ordinary text.
    case tooShort
    /// Above 64 KiB.
    case tooLong
    /// 65,536 others are held.
    case tooMany
  }

  /// The secrets of this process.
  package static let process = HeldSecrets()

  package static let byteCountMin = 8
  package static let byteCountMax = 65_536
  package static let countMax = 65_536

  private let countMax: Int
  private let state = Protected(HeldEntries())

  package init(countMax: Int = countMax) {
    precondition(countMax <= HeldWindows.Owner.entriesMax, "the search cannot number so many")
    self.countMax = countMax
  }

  /// Masks `secret` from now on, until it is released as often as it was held.
  ///
  /// - Parameter label: what it is, such as `acme: refresh token`; never the value.
  /// - Throws: `Refusal`; the value is not masked then, and a credential must not be made of it.
  package func hold(_ secret: Secret, label: String) throws(Refusal) {
    try hold(all: CollectionOfOne((secret: secret, label: label)))
  }

  /// Masks all of `secrets`, each as `hold(_:label:)` does.
  ///
  /// - Throws: `Refusal`; then none of them is held by this call.
  package func hold(all secrets: some Collection<(secret: Secret, label: String)>) throws(Refusal) {
    for (secret, _) in secrets {
      guard secret.count >= Self.byteCountMin else { throw .tooShort }
      guard secret.count <= Self.byteCountMax else { throw .tooLong }
    }
    let areHeld = state.withLock { entries in
      for (done, (secret, label)) in secrets.enumerated() {
        guard entries.hold(secret, label: label, countMax: countMax) else {
          for (secret, _) in secrets.prefix(done) { entries.release(secret) }
          return false
        }
      }
      return true
    }
    guard areHeld else { throw .tooMany }
  }

  /// Stops masking `secret`. Its lines may still be on their way: keep a replaced value until the next one is replaced.
  package func release(_ secret: Secret) { release(all: CollectionOfOne(secret)) }

  /// Stops masking all of `secrets`, each as `release(_:)` does.
  package func release(all secrets: some Collection<Secret>) {
    state.withLock { entries in
      for secret in secrets { entries.release(secret) }
    }
  }

  /// What is held, by label.
  package var labels: [String] { state.withLock { $0.labels } }

  /// `text` with every held value masked: for error output and whatever else leaves the process as text.
  package static func mask(_ text: String) -> String { process.mask(text) }

  package func mask(_ text: String) -> String {
    guard !index.isEmpty else { return text }
    var text = text
    let masked = text.withUTF8 { HeldSecretMasker(self).masked(UnsafeRawBufferPointer($0)) }
    return masked.map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  /// Lines of JSON with every held value masked inside their strings, so that they stay JSON. Names of members are ours.
  package func mask(json: [UInt8]) -> [UInt8] {
    guard !index.isEmpty else { return json }
    return HeldSecretMasker(self).masked(lines: json) ?? json
  }

  /// The values as they are now.
  var index: HeldIndex {
    let windows = state.withLock { (long: $0.long, short: $0.short) }
    return HeldIndex(self, long: windows.long, short: windows.short)
  }

  /// Where the value that owns a window found at `place` stands, if it does.
  func range(of owner: HeldWindows.Owner, at place: Int, in text: UnsafeRawBufferPointer) -> Range<Int>? {
    state.withLock { $0.range(of: owner, at: place, in: text) }
  }
}
