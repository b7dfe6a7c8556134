/// Batches in the order they came, first in, first out, in constant time and without keeping what was removed.
struct LineQueue {
  private var batches: [LineBatch] = []
  /// The places before it are empty.
  private var head = 0
  /// The bytes of all batches together.
  private(set) var byteCount = 0

  var isEmpty: Bool { head == batches.count }
  var count: Int { batches.count - head }
  var first: LineBatch? { isEmpty ? nil : batches[head] }
  /// Oldest first.
  var all: ArraySlice<LineBatch> { batches[head...] }

  mutating func append(_ batch: LineBatch) {
    batches.append(batch)
    byteCount += batch.bytes.count
  }

  mutating func removeFirst() {
    byteCount -= batches[head].bytes.count
    batches[head] = LineBatch(bytes: [], lineCount: 0)
    head += 1
    if isEmpty || head > 64 && head > batches.count / 2 {
      batches.removeFirst(head)
      head = 0
    }
  }
}
