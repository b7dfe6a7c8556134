import Cryptography
import Glibc

/// An immutable snapshot of the held values that finds them in a text in one pass.
///
/// From the end of each pattern, the part of a token that is most its own, some windows of eight bytes are taken, as
/// many as the search may then stride over in the text. A bit set tells nearly every place where none of them stands.
final class HeldIndex: @unchecked Sendable {  // nothing changes between init and deinit
  private struct Window {
    var bytes: UInt64
    var pattern: Int32
    var offset: Int32
  }

  private static let windowByteCount = 8
  private static let strideMax = 8

  private let patterns: [HeldPattern]
  /// Sorted by their bytes. Overwritten at the end, for they are parts of secrets.
  private let windows: UnsafeMutableBufferPointer<Window>
  private let stride: Int
  /// A bit for each of `1 << (64 - filterShift)` hashes; owned.
  private let filter: UnsafeMutablePointer<UInt64>
  private let filterShift: UInt64

  init(_ patterns: [HeldPattern]) {
    self.patterns = patterns
    let shortest = patterns.map(\.bytes.count).min() ?? Self.windowByteCount
    let stride = min(Self.strideMax, shortest - Self.windowByteCount + 1)
    self.stride = stride
    let windows = UnsafeMutableBufferPointer<Window>.allocate(capacity: patterns.count * stride)
    // At least 16 bits for each window, so that one place in 16 at most is looked at in vain.
    let filterBits = max(12, UInt64.bitWidth - (windows.count * 16).leadingZeroBitCount)
    let filterShift = UInt64(UInt64.bitWidth - filterBits)
    let filter = UnsafeMutablePointer<UInt64>.allocate(capacity: 1 << filterBits / 64)
    filter.initialize(repeating: 0, count: 1 << filterBits / 64)
    for (number, pattern) in patterns.enumerated() {
      pattern.bytes.withUnsafeBytes { bytes in
        for place in 0..<stride {
          let offset = bytes.count - Self.windowByteCount - place
          let window = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          windows.initializeElement(
            at: number * stride + place, to: Window(bytes: window, pattern: Int32(number), offset: Int32(offset)))
          let bit = Self.hash(window) >> filterShift
          filter[Int(bit >> 6)] |= 1 << (bit & 63)
        }
      }
    }
    self.filter = filter
    self.filterShift = filterShift
    var sorted = windows
    sorted.sort { $0.bytes < $1.bytes }
    self.windows = windows
  }

  deinit {
    if let base = windows.baseAddress { explicit_bzero(base, windows.count * MemoryLayout<Window>.stride) }
    windows.deallocate()
    filter.deallocate()
  }

  var isEmpty: Bool { patterns.isEmpty }

  /// Calls `found` with each place where a held value stands; places may overlap.
  func scan(_ text: UnsafeRawBufferPointer, _ found: (Range<Int>) -> Void) {
    guard !isEmpty, let start = text.baseAddress else { return }
    // Every line of the log comes here: nothing is called or checked for a place where nothing stands.
    let (filter, shift, stride) = (filter, filterShift, stride)
    let last = text.count - Self.windowByteCount
    var place = 0
    while place <= last {
      let window = (start + place).loadUnaligned(as: UInt64.self)
      let bit = Self.hash(window) &>> shift
      if filter[Int(truncatingIfNeeded: bit &>> 6)] &>> (bit & 63) & 1 == 1 {
        look(for: window, at: place, in: text, found)
      }
      place &+= stride
    }
  }

  private func look(
    for bytes: UInt64, at place: Int, in text: UnsafeRawBufferPointer, _ found: (Range<Int>) -> Void
  ) {
    var low = 0
    var high = windows.count
    while low < high {
      let middle = (low + high) / 2
      if windows[middle].bytes < bytes { low = middle + 1 } else { high = middle }
    }
    while low < windows.count, windows[low].bytes == bytes {
      let pattern = patterns[Int(windows[low].pattern)]
      if let range = occurrence(of: pattern, from: place - Int(windows[low].offset), in: text) { found(range) }
      low += 1
    }
  }

  private func occurrence(
    of pattern: HeldPattern, from start: Int, in text: UnsafeRawBufferPointer
  ) -> Range<Int>? {
    var range = start..<start + pattern.bytes.count
    guard start >= 0, range.upperBound <= text.count else { return nil }
    let isThere = pattern.bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: text[range]).elementsEqual($0) }
    guard isThere, !isInsideMarker(range, text) else { return nil }
    if pattern.sharesCharacterBefore, start > 0, Base64Probe.isCharacter(text[start - 1]) {
      range = start - 1..<range.upperBound
    }
    if pattern.sharesCharacterBehind, range.upperBound < text.count, Base64Probe.isCharacter(text[range.upperBound]) {
      range = range.lowerBound..<range.upperBound + 1
    }
    return range
  }

  /// A value such as `redacted` must not eat what stands for others.
  private func isInsideMarker(_ range: Range<Int>, _ text: UnsafeRawBufferPointer) -> Bool {
    let firstStart = range.upperBound - RedactionMarker.byteCount
    guard firstStart <= range.lowerBound else { return false }
    return (firstStart...range.lowerBound).contains { RedactionMarker.begins(at: $0, in: text) }
  }

  @inline(__always)
  private static func hash(_ window: UInt64) -> UInt64 { (window ^ window >> 32) &* 0x9E37_79B9_7F4A_7C15 }
}
