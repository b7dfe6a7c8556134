import HTTPWire

/// A refused response that may still have to be delivered: its head as it came and the start of its body, which counts
/// among the body bytes that are kept.
struct HeldResponse: ~Copyable {
  private var head = ByteBuffer()
  private var body = KeptBytes()
  /// Whether the body is complete.
  var isWhole = false

  var isEmpty: Bool { head.isEmpty }
  var bodyBytes: Int { body.count }

  mutating func begin(_ bytes: UnsafeRawBufferPointer, budget: KeptBytesBudget) {
    release(to: budget)
    head.append(bytes)
  }

  /// - Returns: false when there is no room; nothing is appended then.
  mutating func append(_ bytes: UnsafeRawBufferPointer, within budget: KeptBytesBudget) -> Bool {
    body.append(bytes, most: .max, within: budget)
  }

  func withHead<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { head.withUnsafeBytes(body) }
  func withBody<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { self.body.withUnsafeBytes(body) }

  mutating func release(to budget: KeptBytesBudget) {
    head.release()
    body.release(to: budget)
    isWhole = false
  }
}
