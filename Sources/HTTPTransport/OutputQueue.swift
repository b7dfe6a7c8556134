package import EventLoop
package import HTTPWire

/// Bytes on their way into one socket.
///
/// What is little waits until the round of events has been worked on (`EventLoop.afterWork`), so that head and body are
/// one write. More than a record is written at once, as far as the kernel takes it, and the rest kept. The owner stops its
/// source while the queue `isBlocked`, so what is kept is bounded by one read of the source.
package struct OutputQueue: ~Copyable {
  package enum Outcome: Equatable {
    /// All is with the kernel.
    case drained
    /// Waits for `EventLoop.afterWork`: `flush` then.
    case held
    /// The kernel takes no more: the rest waits for `socketWritable`.
    case pending
    /// The connection is of no more use.
    case failed
  }

  /// What a TLS record holds, what is worth copying to save a write, and the most that is held.
  package static let recordBytes = 16_384

  private let blocks: BlockPool
  private var buffer = ByteBuffer()
  /// Bytes the kernel has taken since `resetCount()`.
  package private(set) var writtenBytes: UInt64 = 0
  /// The kernel did not take all; `socketWritable` will come.
  package private(set) var isBlocked = false

  /// - Parameter blocks: where the memory for what is kept comes from, and goes back to on `release`.
  package init(blocks: BlockPool) { self.blocks = blocks }

  /// Bytes that are not with the kernel yet.
  package var pendingBytes: Int { buffer.count }

  package mutating func resetCount() { writtenBytes = 0 }

  /// Adds the bytes that `compose` appends, without writing: a `write` follows.
  @inline(__always)
  mutating func add(_ compose: (inout ByteBuffer) -> Void) {
    buffer.takeStorage(from: blocks)
    compose(&buffer)
  }

  /// Adds the bytes that `compose` appends.
  @inline(__always)
  package mutating func write(to socket: StreamSocket, compose: (inout ByteBuffer) -> Void) -> Outcome {
    add(compose)
    if isBlocked { return .pending }
    return buffer.count <= Self.recordBytes ? .held : flush(to: socket)
  }

  /// Adds `bytes`; copies no more than fills the last record of what is held, and what the kernel does not take.
  package mutating func write(_ bytes: UnsafeRawBufferPointer, to socket: StreamSocket) -> Outcome {
    if isBlocked || buffer.count + bytes.count <= Self.recordBytes {
      buffer.takeStorage(from: blocks)
      buffer.append(bytes)
      return isBlocked ? .pending : .held
    }
    var rest = bytes
    if !buffer.isEmpty {
      let copied = Self.recordBytes - buffer.count % Self.recordBytes
      buffer.append(UnsafeRawBufferPointer(rebasing: bytes[..<min(copied, bytes.count)]))
      rest = UnsafeRawBufferPointer(rebasing: bytes[min(copied, bytes.count)...])
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
        return block(socket)
      case .end, .failed: return .failed
      }
    }
    return .drained
  }

  /// Writes what is kept.
  package mutating func flush(to socket: StreamSocket) -> Outcome {
    while !buffer.isEmpty {
      switch buffer.withUnsafeBytes({ socket.send($0) }) {
      case .moved(let count):
        writtenBytes += UInt64(count)
        buffer.consume(count)
      case .wouldBlock: return block(socket)
      case .end, .failed: return .failed
      }
    }
    isBlocked = false
    // A stream that is slow on its other side holds no memory here.
    buffer.release(to: blocks)
    return .drained
  }

  private mutating func block(_ socket: StreamSocket) -> Outcome {
    isBlocked = true
    socket.notifyWhenWritable()
    return .pending
  }

  /// Drops what is kept.
  package mutating func release() {
    isBlocked = false
    buffer.release(to: blocks)
  }
}
