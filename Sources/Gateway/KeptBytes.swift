import HTTPWire

/// Body bytes that stay in memory. The budget is charged with the block that holds them, not with what is in it.
struct KeptBytes: ~Copyable {
  private var buffer = ByteBuffer()
  /// The block, and what was taken ahead for a larger one.
  private var chargedBytes = 0

  var count: Int { buffer.count }
  var isEmpty: Bool { buffer.isEmpty }

  func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { buffer.withUnsafeBytes(body) }

  /// Takes ahead what `byteCount` more bytes will need.
  ///
  /// - Parameter most: what all bytes can come to.
  /// - Returns: whether there is room.
  mutating func reserve(_ byteCount: Int, most: Int, within budget: KeptBytesBudget) -> Bool {
    let wanted = block(holding: byteCount, most: most)
    guard wanted > chargedBytes else { return true }
    guard budget.take(wanted - chargedBytes) else { return false }
    chargedBytes = wanted
    return true
  }

  /// Appends if there is room, and gives back what was taken ahead and is not needed.
  ///
  /// - Returns: whether it did.
  mutating func append(_ bytes: UnsafeRawBufferPointer, most: Int, within budget: KeptBytesBudget) -> Bool {
    guard reserve(bytes.count, most: most, within: budget) else { return false }
    put(bytes, most: most, budget)
    return true
  }

  /// Appends what must be kept in any case.
  mutating func appendAnyway(_ bytes: UnsafeRawBufferPointer, most: Int, budget: KeptBytesBudget) {
    let wanted = block(holding: bytes.count, most: most)
    if wanted > chargedBytes {
      budget.overdraw(wanted - chargedBytes)
      chargedBytes = wanted
    }
    put(bytes, most: most, budget)
  }

  /// Gives back what was taken ahead.
  mutating func giveBackReserve(to budget: KeptBytesBudget) {
    guard chargedBytes > buffer.capacity else { return }
    budget.giveBack(chargedBytes - buffer.capacity)
    chargedBytes = buffer.capacity
  }

  mutating func release(to budget: KeptBytesBudget) {
    buffer.release()
    if chargedBytes > 0 { budget.giveBack(chargedBytes) }
    chargedBytes = 0
  }

  /// How large the block is when it holds `byteCount` more: doubled when it grows, but no larger than all that can come.
  private func block(holding byteCount: Int, most: Int) -> Int {
    let needed = buffer.count + byteCount
    return needed <= buffer.capacity ? buffer.capacity : max(needed, min(2 * buffer.capacity, most))
  }

  private mutating func put(_ bytes: UnsafeRawBufferPointer, most: Int, _ budget: KeptBytesBudget) {
    buffer.grow(to: block(holding: bytes.count, most: most))
    buffer.append(bytes)
    giveBackReserve(to: budget)
  }
}
