package import Cryptography
import Locking

/// The exact values of every secret the process holds: the one layer of redaction that knows instead of guessing.
///
/// A value is recognised as it is, percent-encoded, escaped for JSON, in base64 or base64url at any offset, in hexadecimal
/// of one case, and in combinations of these. Feeding and searching go on at the same time on any threads.
package final class HeldSecrets: Sendable {
  /// What became of a value that should be held.
  package enum Outcome: Sendable, Equatable {
    case held
    /// Below 8 bytes a value would blank ordinary text. It is not masked.
    case tooShort
    /// Above 64 KiB, or when 4,096 others are held, it is not masked either.
    case tooMuch
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
  /// - Returns: anything but `.held` means that the value is not masked, which somebody should be told.
  package func hold(_ secret: Secret, label: String) -> Outcome {
    guard secret.count >= Self.byteCountMin else { return .tooShort }
    guard secret.count <= Self.byteCountMax else { return .tooMuch }
    return state.withLock { state in
      if let known = state.entries.firstIndex(where: { $0.secret == secret }) {
        state.entries[known].holders += 1
        return .held
      }
      guard state.entries.count < countMax else { return .tooMuch }
      state.entries.append(Entry(secret: secret, label: label, patterns: HeldPattern.all(of: secret)))
      Self.rebuildIndex(&state)
      return .held
    }
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
    var text = text
    let masked = text.withUTF8 { HeldSecretMasker(self).masked(UnsafeRawBufferPointer($0)) }
    return masked.map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  /// The values as they are now. A snapshot: what comes later is not in it.
  var index: HeldIndex { state.withLock { $0.index } }

  private static func rebuildIndex(_ state: inout State) {
    state.index = HeldIndex(state.entries.flatMap(\.patterns))
  }
}
