/// The parts of a text that must not be shown.
struct MaskList {
  private struct Mask {
    var range: Range<Int>
    /// A user name and password before a host go without a trace, so that the URL stays one.
    var isDropped: Bool
  }

  private var masks: [Mask] = []

  var isEmpty: Bool { masks.isEmpty }

  mutating func removeAll() { masks.removeAll(keepingCapacity: true) }

  mutating func add(_ range: Range<Int>, isDropped: Bool = false) {
    if !range.isEmpty { masks.append(Mask(range: range, isDropped: isDropped)) }
  }

  /// Appends `text` with a marker in the place of each mask; masks that overlap become one.
  mutating func apply(to text: UnsafeRawBufferPointer, output: inout [UInt8]) {
    masks.sort { $0.range.lowerBound < $1.range.lowerBound }
    var shown = 0
    var index = 0
    while index < masks.count {
      var mask = masks[index]
      index += 1
      while index < masks.count, masks[index].range.lowerBound < mask.range.upperBound {
        mask.isDropped = mask.isDropped && masks[index].isDropped
        mask.range = mask.range.lowerBound..<max(mask.range.upperBound, masks[index].range.upperBound)
        index += 1
      }
      output.append(contentsOf: text[shown..<mask.range.lowerBound])
      if !mask.isDropped {
        RedactionMarker.append(for: UnsafeRawBufferPointer(rebasing: text[mask.range]), to: &output)
      }
      shown = mask.range.upperBound
    }
    output.append(contentsOf: text[shown...])
  }
}
