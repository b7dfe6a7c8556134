import Glibc
import HTTPWire

/// Masks held values in texts and in finished lines. Keeps its buffers; one per thread.
final class HeldSecretMasker {
  /// Encodings on top of each other that are seen through.
  private static let layersMax = 3

  private let heldSecrets: HeldSecrets
  private let walker = LayerWalker([.percent, .json], depthMax: layersMax)
  private let unescaper = LayerDecoder()
  private var masks = MaskList()

  init(_ heldSecrets: HeldSecrets) { self.heldSecrets = heldSecrets }

  /// The masked text, or `nil` if there is nothing to mask.
  func masked(_ text: UnsafeRawBufferPointer) -> [UInt8]? { masked(text, heldSecrets.index) }

  /// The batch with every held value masked inside the strings of its lines, so that each line stays JSON.
  func masked(_ batch: LineBatch) -> LineBatch {
    masked(lines: batch.bytes).map { batch.replacing(bytes: $0) } ?? batch
  }

  /// Lines of JSON with every held value masked inside their strings, or `nil` if there is nothing to mask.
  func masked(lines: [UInt8]) -> [UInt8]? {
    let index = heldSecrets.index
    guard !index.isEmpty else { return nil }
    var output: [UInt8]?
    lines.withUnsafeBytes { bytes in
      var start = 0
      while start < bytes.count {
        let end = Self.lineEnd(bytes, from: start)
        let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        let masked = Self.isWorthALook(line, index) ? maskedLine(line, index) : nil
        if let masked {
          output = (output ?? Array(bytes[..<start])) + masked
        } else {
          output?.append(contentsOf: line)
        }
        start = end
      }
    }
    return output
  }

  private static func lineEnd(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    guard let base = bytes.baseAddress,
      let lineFeed = memchr(base + start, Int32(UInt8(ascii: "\n")), bytes.count - start)
    else { return bytes.count }
    return UnsafeRawPointer(lineFeed) - base + 1
  }

  /// Whether a held value stands in the line, or an escape behind which one may stand.
  private static func isWorthALook(_ line: UnsafeRawBufferPointer, _ index: HeldIndex) -> Bool {
    guard let start = line.baseAddress else { return false }
    if memchr(start, Int32(UInt8(ascii: "%")), line.count) != nil { return true }
    if memchr(start, Int32(UInt8(ascii: "\\")), line.count) != nil { return true }
    var isFound = false
    index.scan(line) { _ in isFound = true }
    return isFound
  }

  /// The line with the values of its strings masked; names of members and numbers are ours.
  private func maskedLine(_ line: UnsafeRawBufferPointer, _ index: HeldIndex) -> [UInt8]? {
    var output: [UInt8] = []
    var shown = 0
    var position = 0
    while let opening = line[position...].firstIndex(of: UInt8(ascii: "\"")) {
      guard let closing = Self.closingQuote(line, after: opening) else { return masked(line, index) }
      position = closing + 1
      let isName = position < line.count && line[position] == UInt8(ascii: ":")
      let content = opening + 1..<closing
      guard !isName, let masked = maskedString(line, content, index) else { continue }
      output.append(contentsOf: line[shown..<content.lowerBound])
      output.append(contentsOf: masked)
      shown = closing
    }
    guard shown > 0 else { return nil }
    output.append(contentsOf: line[shown...])
    return output
  }

  private static func closingQuote(_ line: UnsafeRawBufferPointer, after opening: Int) -> Int? {
    var index = opening + 1
    while index < line.count {
      if line[index] == UInt8(ascii: "\"") { return index }
      index += line[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }

  /// What is to stand between the quotes instead of `content`, or `nil` if there is nothing to mask.
  private func maskedString(
    _ line: UnsafeRawBufferPointer, _ content: Range<Int>, _ index: HeldIndex
  ) -> [UInt8]? {
    let escaped = UnsafeRawBufferPointer(rebasing: line[content])
    guard unescaper.decode(TextView(bytes: escaped, origins: nil), .json) else { return masked(escaped, index) }
    var output: [UInt8]?
    unescaper.withView { view in
      guard let masked = masked(view.bytes, index) else { return }
      var buffer = ByteBuffer()
      masked.withUnsafeBytes { JSONWriter.appendEscaped($0, to: &buffer) }
      output = buffer.copy()
    }
    return output
  }

  private func masked(_ text: UnsafeRawBufferPointer, _ index: HeldIndex) -> [UInt8]? {
    guard !index.isEmpty else { return nil }
    masks.removeAll()
    _ = walker.walk(text) { view in
      index.scan(view.bytes) { masks.add(view.original($0)) }
    }
    guard !masks.isEmpty else { return nil }
    var output: [UInt8] = []
    masks.apply(to: text, output: &output)
    return output
  }
}
