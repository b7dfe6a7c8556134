import EventLoop
package import HTTPWire

/// Memory that all connections of one loop share, one at a time, so that an idle connection holds no buffer: bodies are
/// read here, heads into the loop's `RoundInput`.
package final class LoopScratch {
  /// The measured optimum for big bodies: larger reads overflow the socket's send buffer and must be copied.
  package static let inputBytes = 65_536

  /// What is read of a request before its body is known to be wanted: a head, and what came with it.
  package static let headReadBytes = 8_192
  /// What the uploads of one loop read at a time, together, before each reads less.
  private static let uploadReadBytes = 4 << 20

  /// How much of an upload is read at a time. What is read may have to wait in memory for an upstream that does not
  /// take it: the more uploads, the less of each.
  package private(set) var bodyReadBytes = LoopScratch.inputBytes
  /// Uploads under way.
  package var uploads = 0 {
    didSet {
      bodyReadBytes = max(Self.headReadBytes, min(Self.inputBytes, Self.uploadReadBytes / max(1, uploads)))
    }
  }

  package let input: UnsafeMutableRawBufferPointer
  package let fields: FieldTable
  package let blocks = BlockPool()
  package let limits: HeadLimits

  package init(limits: HeadLimits) {
    input = .allocate(byteCount: Self.inputBytes, alignment: 64)
    fields = FieldTable(capacity: limits.fieldCountMax)
    self.limits = limits
  }

  deinit { input.deallocate() }
}
