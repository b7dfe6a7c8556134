import HTTPWire
import Testing

struct ByteBufferTests {
  @Test func `a new buffer has no storage`() {
    var buffer = ByteBuffer()
    #expect(buffer.isEmpty == true)
    #expect(buffer.capacity == 0)
    #expect(buffer.withUnsafeBytes { $0.count } == 0)
    buffer.append("")
    buffer.append([])
    buffer.append(UnsafeRawBufferPointer(start: nil, count: 0))
    #expect(buffer.capacity == 0)
    #expect(buffer.copy() == [])
  }

  @Test func `everything is appended in order`() {
    var buffer = ByteBuffer()
    buffer.append("GET ")
    buffer.append(byte: UInt8(ascii: "/"))
    buffer.append(decimal: 0)
    buffer.append(byte: UInt8(ascii: "-"))
    buffer.append(decimal: .max)
    buffer.append(byte: UInt8(ascii: "-"))
    buffer.append(hex: 0)
    buffer.append(byte: UInt8(ascii: "-"))
    buffer.append(hex: 0x1a2b)
    buffer.append(byte: UInt8(ascii: "-"))
    buffer.append(hex: .max)
    let name = "h\u{E9}"
    buffer.append(name)
    buffer.append(name.dropFirst())
    buffer.append([1, 2])
    #expect(
      buffer.copy()
        == Array("GET /0-18446744073709551615-0-1a2b-ffffffffffffffffh\u{E9}\u{E9}".utf8) + [1, 2])
  }

  @Test func `consumed bytes are gone and the rest stays`() {
    var buffer = ByteBuffer()
    buffer.append("0123456789")
    buffer.consume(4)
    #expect(buffer.copy() == latin1("456789"))
    #expect(buffer.count == 6)
    buffer.consume(6)
    #expect(buffer.isEmpty == true)
    buffer.append("x")
    #expect(buffer.copy() == latin1("x"))
  }

  @Test func `what is reserved becomes readable by commit alone`() {
    var buffer = ByteBuffer()
    let tail = buffer.reserve(3)
    #expect(tail.count >= 3)
    tail[0] = 7
    #expect(buffer.isEmpty == true)
    buffer.commit(1)
    #expect(buffer.copy() == [7])
  }

  @Test func `a queue that is read as fast as it is written does not grow`() {
    var buffer = ByteBuffer()
    var random = SeededRandom(seed: 1)
    var written: UInt8 = 0
    var read: UInt8 = 0
    for _ in 0..<10_000 {
      for _ in 0..<Int.random(in: 0...100, using: &random) {
        buffer.append(byte: written)
        written &+= 1
      }
      let taken = max(0, buffer.count - Int.random(in: 0...50, using: &random))
      buffer.withUnsafeBytes { bytes in
        for index in 0..<taken {
          #expect(bytes[index] == read)
          read &+= 1
        }
      }
      buffer.consume(taken)
    }
    #expect(buffer.capacity <= ByteBuffer.capacityMin * 2)
  }

  @Test func `bytes survive growth with a consumed front`() {
    var buffer = ByteBuffer()
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    for start in stride(from: 0, to: bytes.count, by: 1_000) {
      buffer.append(Array(bytes[start..<start + 1_000]))
      buffer.consume(100)
    }
    #expect(buffer.copy() == Array(bytes[10_000...]))
  }

  @Test func `removing keeps the storage and releasing frees it`() {
    var buffer = ByteBuffer()
    buffer.append("abc")
    buffer.removeAll()
    #expect(buffer.isEmpty == true)
    #expect(buffer.capacity == ByteBuffer.capacityMin)
    buffer.release()
    #expect(buffer.capacity == 0)
    buffer.append("again")
    #expect(buffer.copy() == latin1("again"))
  }
}
