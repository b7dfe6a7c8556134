/// Lines that wait for the output. Bounded; what does not fit or can't be written is counted, and a notice takes its
/// place as soon as the output takes something again.
struct OutputBacklog {
  private let bytesMax: Int
  private var batches = LineQueue()
  /// How much of the first batch is written.
  private var offset = 0
  /// Records dropped of which no notice is in the queue.
  private(set) var droppedCount = 0
  /// Records dropped since the start.
  private(set) var droppedTotal = 0
  /// The last write failed, so a notice waits for the next batch instead of failing on its own again and again.
  private var hasFailed = false
  /// The output failed in the middle of a line, so the next one needs a line feed before it.
  private var isInsideLine = false
  /// Why the output can't be written to; nil again once it has taken all there was.
  private(set) var failureCode: Int32?
  private var output: LogOutput?

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  var isEmpty: Bool { batches.isEmpty }
  var byteCount: Int { batches.byteCount - offset }

  mutating func append(_ batch: LineBatch, wallNanoseconds: Int64) {
    guard byteCount + batch.bytes.count <= bytesMax else {
      lose(batch.recordCount, of: batch)
      return
    }
    noteDropped(wallNanoseconds)
    batches.append(batch)
  }

  /// Writes until nothing is left, the output blocks, or `writesMax` writes are done.
  mutating func write(to output: LogOutput, writesMax: Int, wallNanoseconds: Int64) {
    if self.output !== output { begin(output) }
    for _ in 0..<writesMax {
      if batches.isEmpty, !hasFailed { noteDropped(wallNanoseconds) }
      guard let batch = batches.first else { return }
      switch isInsideLine ? output.write(lineFeed) : output.write(batch, from: offset) {
      case .wrote(let count):
        hasFailed = false
        advance(in: batch, by: count)
        if batches.isEmpty { failureCode = nil }
      case .blocked: return
      case .failed(let code):
        failureCode = code
        drop(batch)
      }
    }
  }

  private var lineFeed: LineBatch { LineBatch(bytes: [UInt8(ascii: "\n")], lineCount: 0) }

  /// A line that went half to the old file goes whole to the new one.
  private mutating func begin(_ output: LogOutput) {
    self.output = output
    isInsideLine = false
    hasFailed = false
    guard let batch = batches.first else { return }
    offset = batch.bytes[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
  }

  private mutating func advance(in batch: LineBatch, by count: Int) {
    guard !isInsideLine else { return isInsideLine = count == 0 }
    offset += count
    if offset == batch.bytes.count { removeFirst() }
  }

  private mutating func drop(_ batch: LineBatch) {
    hasFailed = true
    let lostLines = batch.bytes[offset...].count { $0 == UInt8(ascii: "\n") }
    lose(lostLines == batch.lineCount ? batch.recordCount : lostLines, of: batch)
    if offset > 0 { isInsideLine = batch.bytes[offset - 1] != UInt8(ascii: "\n") }
    removeFirst()
  }

  private mutating func lose(_ recordCount: Int, of batch: LineBatch) {
    droppedCount += recordCount
    if !batch.isNotice { droppedTotal += recordCount }
  }

  private mutating func removeFirst() {
    batches.removeFirst()
    offset = 0
  }

  private mutating func noteDropped(_ wallNanoseconds: Int64) {
    guard droppedCount > 0 else { return }
    batches.append(LineBatch(dropped: droppedCount, wallNanoseconds: wallNanoseconds))
    droppedCount = 0
  }
}

extension LogOutput {
  fileprivate func write(_ batch: LineBatch, from offset: Int = 0) -> Outcome {
    batch.bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
  }
}
