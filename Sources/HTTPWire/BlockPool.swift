/// Spare blocks for buffers that come and go with each message, so that an idle connection holds none and a busy one
/// allocates none. One per loop.
package final class BlockPool {
  /// More than nearly every head, and a small body behind it.
  package static let blockBytes = 2_048
  /// A round of events may have three in use for each of its exchanges.
  private static let sparesMax = 256

  private let spares = UnsafeMutablePointer<UnsafeMutableRawPointer>.allocate(capacity: BlockPool.sparesMax)
  private var count = 0

  package init() {}

  deinit {
    for index in 0..<count { spares[index].deallocate() }
    spares.deallocate()
  }

  /// A block of `blockBytes`; the caller's, until it gives it back or frees it.
  func take() -> UnsafeMutableRawPointer {
    guard count > 0 else { return .allocate(byteCount: Self.blockBytes, alignment: ByteBuffer.alignment) }
    count -= 1
    return spares[count]
  }

  func giveBack(_ block: UnsafeMutableRawPointer) {
    guard count < Self.sparesMax else { return block.deallocate() }
    (spares + count).initialize(to: block)
    count += 1
  }
}

extension ByteBuffer {
  /// Takes a spare block for storage, if there is none yet.
  package mutating func takeStorage(from pool: BlockPool) {
    guard storage == nil else { return }
    storage = pool.take()
    capacity = BlockPool.blockBytes
  }

  /// Drops all bytes and gives the storage back, or frees it if it has grown.
  package mutating func release(to pool: BlockPool) {
    guard let block = storage, capacity == BlockPool.blockBytes else { return release() }
    removeAll()
    storage = nil
    capacity = 0
    pool.giveBack(block)
  }
}
