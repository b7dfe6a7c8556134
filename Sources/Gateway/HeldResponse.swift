import HTTPWire

/// A refused response that may still have to be delivered: its head as it came and the start of its body.
struct HeldResponse: ~Copyable {
  private var head = ByteBuffer()
  private(set) var body: [UInt8] = []
  /// Whether the body is complete.
  var isWhole = false

  var isEmpty: Bool { head.isEmpty }

  mutating func begin(_ bytes: UnsafeRawBufferPointer) {
    release()
    head.append(bytes)
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) { body.append(contentsOf: bytes) }

  func withHead<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { head.withUnsafeBytes(body) }

  mutating func release() {
    head.release()
    body = []
    isWhole = false
  }
}
