import EventLoop
package import HTTPWire

/// Memory that all connections of one loop share, one at a time: what is read lands here first, so that an idle
/// connection holds no buffer.
package final class LoopScratch {
  /// The measured optimum for big bodies: larger reads overflow the socket's send buffer and must be copied.
  package static let inputBytes = 65_536

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
