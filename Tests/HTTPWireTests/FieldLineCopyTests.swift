import HTTPWire
import Testing

struct FieldLineCopyTests {
  /// Copies the fields of a head whose names `passes` lets through.
  private func copied(_ lines: String, _ passes: (String) -> Bool = { _ in true }) throws -> String {
    let table = FieldTable(capacity: 100)
    return try latin1("GET / HTTP/1.1\r\n\(lines)\r\n").withUnsafeBytes { bytes in
      _ = try RequestHead.parse(bytes, limits: HeadLimits(), fields: table).get()
      var output = ByteBuffer()
      var copy = FieldLineCopy(from: bytes)
      for index in 0..<table.count where passes(text(bytes[table[index].name])) { copy.add(table[index], to: &output) }
      copy.finish(to: &output)
      return output.withUnsafeBytes { text($0) }
    }
  }

  @Test func `lines written as name, colon, space, value go over as they are`() throws {
    let lines = "Host: a\r\nAccept: */*\r\nX-A: b c\r\n"
    #expect(try copied(lines) == lines)
  }

  @Test func `other lines are written anew, in their places`() throws {
    let lines = "Host: a\r\nX-B:c\r\nX-C: \t d \t\r\nX-Empty:\r\nX-E: f\r\n"
    #expect(try copied(lines) == "Host: a\r\nX-B: c\r\nX-C: d\r\nX-Empty: \r\nX-E: f\r\n")
  }

  @Test(arguments: ["Host", "X-1", "X-2", "X-3", "X-4"])
  func `a line that stays behind leaves its neighbours whole`(_ removed: String) throws {
    let lines = ["Host: a", "X-1: one", "X-2:two", "X-3: three", "X-4: four "]
    let expected = ["Host: a", "X-1: one", "X-2: two", "X-3: three", "X-4: four"].filter { !$0.hasPrefix(removed) }
    let text = lines.joined(separator: "\r\n") + "\r\n"
    #expect(try copied(text) { $0 != removed } == expected.joined(separator: "\r\n") + "\r\n")
  }

  @Test func `nothing passes, nothing is written`() throws {
    #expect(try copied("Host: a\r\nX-1: b\r\n") { _ in false } == "")
  }
}
