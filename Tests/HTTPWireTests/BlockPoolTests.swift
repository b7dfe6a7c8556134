import HTTPWire
import Testing

struct BlockPoolTests {
  @Test func `a block that was given back is lent again, empty`() {
    let pool = BlockPool()
    var first = ByteBuffer()
    first.takeStorage(from: pool)
    first.append("left behind")
    let address = first.withUnsafeBytes { $0.baseAddress }
    first.release(to: pool)
    #expect(first.capacity == 0)
    var second = ByteBuffer()
    second.takeStorage(from: pool)
    #expect(second.isEmpty == true)
    #expect(second.capacity == BlockPool.blockBytes)
    second.append("new")
    #expect(second.withUnsafeBytes { $0.baseAddress } == address)
    #expect(second.copy() == Array("new".utf8))
  }

  @Test func `two buffers never share a block`() {
    let pool = BlockPool()
    var one = ByteBuffer()
    var other = ByteBuffer()
    for _ in 0..<3 {
      one.takeStorage(from: pool)
      other.takeStorage(from: pool)
      one.append("one")
      other.append("other")
      #expect(one.copy() == Array("one".utf8))
      #expect(other.copy() == Array("other".utf8))
      one.release(to: pool)
      other.release(to: pool)
    }
  }

  @Test func `storage that is there already is kept, with what is in it`() {
    let pool = BlockPool()
    var buffer = ByteBuffer()
    buffer.append("kept")
    buffer.takeStorage(from: pool)
    #expect(buffer.copy() == Array("kept".utf8))
  }

  @Test func `a buffer that has grown is freed, not pooled`() {
    let pool = BlockPool()
    var buffer = ByteBuffer()
    buffer.takeStorage(from: pool)
    buffer.append([UInt8](repeating: 1, count: BlockPool.blockBytes + 1))
    buffer.release(to: pool)
    buffer.takeStorage(from: pool)
    #expect(buffer.capacity == BlockPool.blockBytes)
  }

  @Test func `more blocks than the pool keeps are freed`() {
    let pool = BlockPool()
    func take(_ depth: Int) {
      var buffer = ByteBuffer()
      buffer.takeStorage(from: pool)
      buffer.append(decimal: UInt64(depth))
      if depth > 0 { take(depth - 1) }
      #expect(buffer.copy() == Array("\(depth)".utf8))
      buffer.release(to: pool)
    }
    take(100)
    take(100)
  }
}
