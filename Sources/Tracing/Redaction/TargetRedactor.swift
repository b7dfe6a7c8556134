package import HTTPWire

/// Makes request targets and URLs fit to be shown: parameters, user names, path segments and tokens that must not be
/// read are replaced by markers, and long ones are cut between two of their parts, never inside one.
///
/// What was redacted before stays as it is. Keeps its buffers, so one redactor serves one thread and a target without
/// secrets costs no allocation.
package final class TargetRedactor {
  /// The most that is shown of a target, in bytes.
  package static let shownBytesMax = 2_048
  /// Nothing is shown of a longer one. No head that the gateway reads is as long.
  private static let readBytesMax = 65_536
  private static let passesMax = 4
  static let ellipsis: StaticString = "…"

  private let heldSecrets: HeldSecrets
  private let walker = LayerWalker([.percent], depthMax: LayerWalker.percentLayersMax)
  private var scan = TargetScan()
  private let judge = NameJudge()
  private var masks = MaskList()
  private var shown: [UInt8] = []
  private var previous: [UInt8] = []

  package init(heldSecrets: HeldSecrets = .process) { self.heldSecrets = heldSecrets }

  /// The URL fit to be shown, for messages.
  package static func redacted(_ url: String) -> String {
    var url = url
    return url.withUTF8 { bytes in
      TargetRedactor().withRedacted(UnsafeRawBufferPointer(bytes)) { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Appends the target fit to be shown, not yet escaped for any format.
  package func append(_ target: UnsafeRawBufferPointer, to output: inout ByteBuffer) {
    withRedacted(target) { output.append($0) }
  }

  /// Lends the target fit to be shown.
  func withRedacted<R>(_ target: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    if target.count <= Self.shownBytesMax {
      if isPlain(target) { return body(target) }
      findSecrets(target)
      if masks.isEmpty { return body(target) }
    } else {
      findSecrets(target)
    }
    mask(target)
    settle()
    return shown.withUnsafeBytes(body)
  }

  /// Looks at its own work until there is nothing left to do, so that redacting it again would change nothing.
  private func settle() {
    for _ in 0..<Self.passesMax {
      swap(&shown, &previous)
      let isSettled = previous.withUnsafeBytes { text in
        findSecrets(text)
        if masks.isEmpty { return true }
        mask(text)
        return false
      }
      if isSettled { return swap(&shown, &previous) }
    }
    // A text that goes on changing was made to; nothing of it is shown.
    swap(&shown, &previous)
    shown.removeAll(keepingCapacity: true)
    previous.withUnsafeBytes { RedactionMarker.append(for: $0, to: &shown) }
  }

  private func mask(_ text: UnsafeRawBufferPointer) {
    shown.removeAll(keepingCapacity: true)
    masks.apply(to: text, output: &shown)
    cut()
  }

  private func findSecrets(_ target: UnsafeRawBufferPointer) {
    masks.removeAll()
    guard target.count <= Self.readBytesMax else { return masks.add(0..<target.count) }
    let index = heldSecrets.index
    let isComplete = walker.walk(target) { view in
      scan.scan(view.bytes) { masks.add(view.original($0), isDropped: $1) }
      index.scan(view.bytes) { masks.add(view.original($0)) }
    }
    // What can't be read is not shown.
    if !isComplete, let first = target.firstIndex(of: UInt8(ascii: "%")) { masks.add(first..<target.count) }
  }

  /// Whether no rule can apply: path segments shorter than any token, or UUIDs, and nothing that separates anything else.
  private func isPlain(_ target: UnsafeRawBufferPointer) -> Bool {
    var previous = 0..<0
    var start = 0
    var index = -1
    while index < target.count {
      index &+= 1
      if index < target.count, target[index] != UInt8(ascii: "/") {
        guard ASCII.isUnreserved(target[index]) else { return false }
        continue
      }
      let segment = start..<index
      if segment.count >= KnownTokens.byteCountMin {
        guard SegmentScan.isOrdinaryUUID(target, segment, behind: previous, judge) else { return false }
      }
      previous = segment
      start = index + 1
    }
    return true
  }

  /// Cuts what is too long between two parts, so that no part is read as something else than it was.
  private func cut() {
    guard shown.count > Self.shownBytesMax else { return }
    let room = Self.shownBytesMax - Self.ellipsis.utf8CodeUnitCount
    let end = shown[..<room].lastIndex(where: Self.endsPart).map { $0 + 1 } ?? 0
    shown.removeSubrange(end...)
    let ellipsis = Self.ellipsis
    shown.append(contentsOf: UnsafeBufferPointer(start: ellipsis.utf8Start, count: ellipsis.utf8CodeUnitCount))
  }

  private static func endsPart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: "="),
      UInt8(ascii: ","), UInt8(ascii: ";"):
      true
    default: false
    }
  }
}
