package import Cryptography

/// A text another party wrote, such as `error_description`: bounded, on one line, and never printed by accident.
///
/// Servers are known to repeat what they were sent, so it is shown only with everything masked that may be a secret.
package struct UntrustedText: Sendable, Equatable {
  package static let charactersMax = 256
  /// Runs of this many characters without a space are no words.
  static let wordCharactersMax = 24

  private let bytes: [UInt8]

  /// Keeps the visible ASCII characters and spaces; all else becomes `?`.
  package init(_ text: String) {
    bytes = text.unicodeScalars.prefix(Self.charactersMax).map {
      (0x20...0x7E).contains($0.value) ? UInt8($0.value) : UInt8(ascii: "?")
    }
  }

  /// The text for a person to read: `[…]` in place of each of `secrets` and of anything that looks like one.
  package func shown(hiding secrets: [Secret]) -> String {
    var bytes = bytes
    for secret in secrets {
      secret.withUnsafeBytes { secret in
        while !secret.isEmpty, let found = Self.firstIndex(of: secret, in: bytes) {
          bytes.replaceSubrange(found..<found + secret.count, with: [Self.mask])
        }
      }
    }
    let words = bytes.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    return words.map { $0.count > Self.wordCharactersMax ? "[…]" : Self.text($0) }.joined(separator: " ")
  }

  private static func text(_ word: ArraySlice<UInt8>) -> String {
    word.split(separator: mask, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "[…]")
  }

  /// Stands for a masked part until the text is shown; it can't be in `bytes`.
  private static let mask: UInt8 = 1

  private static func firstIndex(of secret: UnsafeRawBufferPointer, in bytes: [UInt8]) -> Int? {
    guard secret.count <= bytes.count else { return nil }
    return (0...bytes.count - secret.count).first { bytes[$0..<$0 + secret.count].elementsEqual(secret) }
  }
}

extension UntrustedText: CustomStringConvertible, CustomReflectable {
  package var description: String { "[untrusted text]" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
