import Glibc
import HTTPWire

/// The log of one loop: collects lines and hands them to the hub in batches. Belongs to its loop's thread.
///
/// The loop calls ``flush()`` every 100 ms, or at the end of a round of events while ``wantsFlush`` is set.
package final class LoopLog {
  /// Handed over when this full, in bytes.
  private static let fullBytes = 60 << 10

  private let hub: RecordHub
  private var encoder: RecordEncoder
  private var lines = ByteBuffer()
  private var lineCount = 0
  private var ids: Range<UInt64> = 0..<0
  /// The loop's thread: the one that wrote first.
  private var owner: pthread_t?

  package init(hub: RecordHub) {
    self.hub = hub
    encoder = RecordEncoder(heldSecrets: hub.heldSecrets)
  }

  /// The ID for a new exchange.
  package func nextID() -> RequestID {
    if ids.isEmpty { ids = hub.requestIDBlock() }
    let value = ids.lowerBound
    ids = value + 1..<ids.upperBound
    return RequestID(value: value)
  }

  /// Writes one line; hands all over when that is enough.
  package func append(_ record: borrowing RequestRecord) {
    assert(isOwner(pthread_self()), "a log is used by the thread of its loop alone")
    encoder.append(record, to: &lines)
    lineCount += 1
    if lines.count >= Self.fullBytes { flush() }
  }

  private func isOwner(_ thread: pthread_t) -> Bool {
    guard let owner else {
      owner = thread
      return true
    }
    return pthread_equal(owner, thread) != 0
  }

  package var isEmpty: Bool { lineCount == 0 }

  /// Whether someone waits for the lines that are here.
  package var wantsFlush: Bool { lineCount > 0 && hub.isWatched }

  /// Hands over what there is.
  package func flush() {
    guard lineCount > 0 else { return }
    hub.submit(LineBatch(bytes: lines.copy(), lineCount: lineCount))
    lines.removeAll()
    lineCount = 0
  }
}
