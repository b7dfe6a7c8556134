package import Cryptography
import Locking

/// The exact values of every secret the process holds: the one layer of redaction that knows instead of guessing.
///
/// A value is recognised as it is, percent-encoded, escaped for JSON, in base64 or base64url at any offset, in hexadecimal
/// of one case, and in combinations of these. Feeding and searching go on at the same time on any threads.
package final class HeldSecrets: Sendable {
  /// Why a value can't be masked, so that it must not be used.
  package enum Refusal: Error, Sendable, Equatable {
    /// Below 8 bytes it would blank ordinary text.
    case tooShort
    /// Above 64 KiB.
    case tooLong
    /// 4,096 others are held.
    case tooMany
  }

  /// The secrets of this process.
  package static let process = HeldSecrets()

  package static let byteCountMin = 8
  package static let byteCountMax = 65_536
  package static let countMax = 4_096

  private let countMax: Int

  private struct Entry {
    let secret: Secret
    let label: String
    let patterns: [HeldPattern]
    var holders = 1
  }

  private struct State {
    var entries: [Entry] = []
    var index = HeldIndex([])
  }

  private let state = Protected(State())

  package init(countMax: Int = countMax) { self.countMax = countMax }

  /// Masks `secret` from now on, until it is released as often as it was held.
  ///
  /// - Parameter label: what it is, such as `acme: refresh token`; never the value.
  /// - Throws: `Refusal`; the value is not masked then, and a credential must not be made of it.
  package func hold(_ secret: Secret, label: String) throws(Refusal) {
    guard secret.count >= Self.byteCountMin else { throw .tooShort }
    guard secret.count <= Self.byteCountMax else { throw .tooLong }
    let isHeld = state.withLock { state in
      if let known = state.entries.firstIndex(where: { $0.secret == secret }) {
        state.entries[known].holders += 1
        return true
      }
      guard state.entries.count < countMax else { return false }
      state.entries.append(Entry(secret: secret, label: label, patterns: HeldPattern.all(of: secret)))
      Self.rebuildIndex(&state)
      return true
    }
    guard isHeld else { throw .tooMany }
  }

  /// Stops masking `secret`. Its lines may still be on their way: keep a replaced value until the next one is replaced.
  package func release(_ secret: Secret) {
    state.withLock { state in
      guard let known = state.entries.firstIndex(where: { $0.secret == secret }) else { return }
      state.entries[known].holders -= 1
      guard state.entries[known].holders == 0 else { return }
      state.entries.remove(at: known)
      Self.rebuildIndex(&state)
    }
  }

  /// What is held, by label.
  package var labels: [String] { state.withLock { $0.entries.map(\.label) } }

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

  /// The values as they are now. A snapshot: what comes later is not in it.
  var index: HeldIndex { state.withLock { $0.index } }

  private static func rebuildIndex(_ state: inout State) {
    state.index = HeldIndex(state.entries.flatMap(\.patterns))
  }
}
