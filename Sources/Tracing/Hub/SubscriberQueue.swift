/// What waits for one subscriber: bounded, with a notice where lines were left out.
struct SubscriberQueue {
  private let bytesMax: Int
  private var batches = LineQueue()
  private var droppedCount = 0

  /// - Parameter history: what came before the subscription.
  init(bytesMax: Int, history: [UInt8]) {
    self.bytesMax = bytesMax
    if !history.isEmpty { batches.append(LineBatch(bytes: history, lineCount: 0)) }
  }

  var isEmpty: Bool { batches.isEmpty && droppedCount == 0 }

  mutating func append(_ batch: LineBatch, wallNanoseconds: Int64) {
    guard batches.byteCount + batch.bytes.count <= bytesMax else {
      droppedCount += batch.recordCount
      return
    }
    noteDropped(wallNanoseconds)
    batches.append(batch)
  }

  /// Takes whole batches of up to `bytesMax`, at least one.
  mutating func take(upTo bytesMax: Int, wallNanoseconds: Int64) -> [UInt8] {
    noteDropped(wallNanoseconds)
    var bytes: [UInt8] = []
    while let next = batches.first, bytes.isEmpty || bytes.count + next.bytes.count <= bytesMax {
      if bytes.isEmpty { bytes = next.bytes } else { bytes += next.bytes }
      batches.removeFirst()
    }
    return bytes
  }

  private mutating func noteDropped(_ wallNanoseconds: Int64) {
    guard droppedCount > 0 else { return }
    batches.append(LineBatch(dropped: droppedCount, wallNanoseconds: wallNanoseconds))
    droppedCount = 0
  }
}
