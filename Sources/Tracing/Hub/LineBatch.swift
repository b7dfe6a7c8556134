/// Some whole lines, each ended by a line feed, on their way from a loop to the output, the ring and the subscribers.
package struct LineBatch: Sendable {
  package let bytes: [UInt8]
  package let lineCount: Int
  /// How many records are lost with this batch: its lines, or for a drop notice the records it speaks for.
  let recordCount: Int
  /// It speaks of lost records, which have been counted.
  let isNotice: Bool

  package init(bytes: [UInt8], lineCount: Int) {
    self.bytes = bytes
    self.lineCount = lineCount
    recordCount = lineCount
    isNotice = false
  }

  /// The record that stands in the place of `dropped` lost ones.
  init(dropped: Int, wallNanoseconds: Int64) {
    let line = "{\"time\":\"\(Timestamp.text(wallNanoseconds))\",\"event\":\"log\",\"dropped\":\(dropped)}\n"
    bytes = Array(line.utf8)
    lineCount = 1
    recordCount = dropped
    isNotice = true
  }

  /// The same lines with other bytes: what masking makes of them.
  func replacing(bytes: [UInt8]) -> LineBatch {
    LineBatch(bytes: bytes, lineCount: lineCount, recordCount: recordCount, isNotice: isNotice)
  }

  private init(bytes: [UInt8], lineCount: Int, recordCount: Int, isNotice: Bool) {
    self.bytes = bytes
    self.lineCount = lineCount
    self.recordCount = recordCount
    self.isNotice = isNotice
  }
}
