/// The last lines, kept as the batches they came in, so that keeping them costs nothing per line.
struct LineRing {
  private let linesMax: Int
  private let bytesMax: Int
  private var batches = LineQueue()
  private var lineCount = 0

  init(linesMax: Int, bytesMax: Int) {
    self.linesMax = linesMax
    self.bytesMax = bytesMax
  }

  mutating func append(_ batch: LineBatch) {
    batches.append(batch)
    lineCount += batch.lineCount
    // A batch goes only when the newer ones alone hold all that is promised.
    while let oldest = batches.first, batches.count > 1,
      lineCount - oldest.lineCount >= linesMax || batches.byteCount > bytesMax
    {
      lineCount -= oldest.lineCount
      batches.removeFirst()
    }
  }

  /// The last `count` lines, or as many as there are.
  func last(_ count: Int) -> [UInt8] {
    var wanted = min(count, linesMax)
    var pieces: [ArraySlice<UInt8>] = []
    for batch in batches.all.reversed() where wanted > 0 {
      pieces.append(batch.bytes.suffix(lines: wanted))
      wanted -= batch.lineCount
    }
    return Array(pieces.reversed().joined())
  }
}

extension [UInt8] {
  /// The last `count` of the lines, each with its line feed.
  fileprivate func suffix(lines count: Int) -> ArraySlice<UInt8> {
    var left = count
    for index in indices.dropLast().reversed() where self[index] == UInt8(ascii: "\n") {
      left -= 1
      if left == 0 { return self[(index + 1)...] }
    }
    return self[...]
  }
}
