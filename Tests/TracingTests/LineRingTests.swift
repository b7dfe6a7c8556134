import Testing

@testable import Tracing

@Suite struct LineRingTests {
  private func batch(_ numbers: Range<Int>) -> LineBatch {
    LineBatch(bytes: Array(numbers.map { "\($0)\n" }.joined().utf8), lineCount: numbers.count)
  }

  private func last(_ count: Int, of ring: LineRing) -> [Int] {
    String(decoding: ring.last(count), as: UTF8.self).lines.compactMap(Int.init)
  }

  @Test(arguments: [1, 3, 7, 100])
  func `the last lines are there in order, however they came`(batchSize: Int) {
    var ring = LineRing(linesMax: 50, bytesMax: 1_000_000)
    for start in stride(from: 0, to: 1_000, by: batchSize) { ring.append(batch(start..<min(1_000, start + batchSize))) }
    #expect(last(50, of: ring) == Array(950..<1_000))
    #expect(last(7, of: ring) == Array(993..<1_000))
    #expect(last(1, of: ring) == [999])
    #expect(last(0, of: ring).isEmpty)
    #expect(last(5_000, of: ring) == Array(950..<1_000))
  }

  @Test func `fewer lines than asked for are all there are`() {
    var ring = LineRing(linesMax: 50, bytesMax: 1_000_000)
    #expect(last(10, of: ring).isEmpty)
    ring.append(batch(0..<3))
    #expect(last(10, of: ring) == [0, 1, 2])
  }

  @Test func `bytes bound it too, but the newest batch stays`() {
    var ring = LineRing(linesMax: 1_000, bytesMax: 20)
    for number in 10..<99 { ring.append(batch(number..<number + 1)) }
    #expect(last(1_000, of: ring) == Array(93..<99))
    ring.append(batch(100..<200))
    #expect(last(1_000, of: ring) == Array(100..<200))
  }
}
