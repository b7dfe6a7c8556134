/// The held values as they are now, for searching texts. What is held or released later may be in it or not.
struct HeldIndex {
  private let secrets: HeldSecrets
  private let long: HeldWindows
  private let short: HeldWindows

  init(_ secrets: HeldSecrets, long: HeldWindows, short: HeldWindows) {
    self.secrets = secrets
    self.long = long
    self.short = short
  }

  var isEmpty: Bool { long.count == 0 && short.count == 0 }

  /// Calls `found` with each place where a held value stands; places may overlap.
  func scan(_ text: UnsafeRawBufferPointer, _ found: (Range<Int>) -> Void) {
    scan(text, for: long, found)
    scan(text, for: short, found)
  }

  @inline(__always)
  private func scan(_ text: UnsafeRawBufferPointer, for windows: HeldWindows, _ found: (Range<Int>) -> Void) {
    windows.scan(text) { owner, place in
      guard let range = secrets.range(of: owner, at: place, in: text), !Self.isInsideMarker(range, text) else {
        return
      }
      found(range)
    }
  }

  /// A value such as `redacted` must not eat what stands for others.
  private static func isInsideMarker(_ range: Range<Int>, _ text: UnsafeRawBufferPointer) -> Bool {
    let firstStart = range.upperBound - RedactionMarker.byteCount
    guard firstStart <= range.lowerBound else { return false }
    return (firstStart...range.lowerBound).contains { RedactionMarker.begins(at: $0, in: text) }
  }
}
