package import EventLoop
package import HTTPWire

/// Bytes on their way into one socket: written at once as far as the kernel takes them, kept otherwise.
///
/// The owner stops its source while `pendingBytes` is not zero, so what is kept is bounded by one read of the source.
package struct OutputQueue: ~Copyable {
  package enum Outcome: Equatable {
    /// All is with the kernel.
    case drained
    /// The rest waits for `socketWritable`.
    case pending
    /// The connection is of no more use.
    case failed
  }

  /// What a TLS record holds, and what is worth copying to save a write.
  package static let recordBytes = 16_384

  private let blocks: BlockPool
  private var buffer = ByteBuffer()
  /// Bytes the kernel has taken since `resetCount()`.
  package private(set) var writtenBytes: UInt64 = 0

  /// - Parameter blocks: where the memory for what is kept comes from, and goes back to on `release`.
  package init(blocks: BlockPool) { self.blocks = blocks }

  package var pendingBytes: Int { buffer.count }

  package mutating func resetCount() { writtenBytes = 0 }

  /// Adds bytes without writing, for a head that a body follows at once.
  @inline(__always)
  package mutating func withBuffer(_ body: (inout ByteBuffer) -> Void) {
    buffer.takeStorage(from: blocks)
    body(&buffer)
  }

  /// Writes what is kept.
  package mutating func flush(to socket: StreamSocket) -> Outcome {
    while !buffer.isEmpty {
      switch buffer.withUnsafeBytes({ socket.send($0) }) {
      case .moved(let count):
        writtenBytes += UInt64(count)
        buffer.consume(count)
      case .wouldBlock:
        socket.notifyWhenWritable()
        return .pending
      case .end, .failed: return .failed
      }
    }
    // A stream that is slow on its other side holds no memory here.
    buffer.release(to: blocks)
    return .drained
  }

  /// Writes `bytes` behind what is kept; copies what fills the last record of that, and what the kernel does not take.
  package mutating func write(_ bytes: UnsafeRawBufferPointer, to socket: StreamSocket) -> Outcome {
    var rest = bytes
    if !buffer.isEmpty {
      let room = Self.recordBytes - buffer.count % Self.recordBytes
      let copied = bytes.count <= Self.recordBytes ? bytes.count : room
      buffer.append(UnsafeRawBufferPointer(rebasing: bytes[..<copied]))
      rest = UnsafeRawBufferPointer(rebasing: bytes[copied...])
      let outcome = flush(to: socket)
      if outcome == .pending { buffer.append(rest) }
      if outcome != .drained { return outcome }
    }
    while !rest.isEmpty {
      switch socket.send(rest) {
      case .moved(let count):
        writtenBytes += UInt64(count)
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      case .wouldBlock:
        buffer.append(rest)
        socket.notifyWhenWritable()
        return .pending
      case .end, .failed: return .failed
      }
    }
    return .drained
  }

  package mutating func removeAll() { buffer.removeAll() }
  package mutating func release() { buffer.release(to: blocks) }
}
