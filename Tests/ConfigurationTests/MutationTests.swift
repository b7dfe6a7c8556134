import Configuration
import Testing

/// The same numbers on each run.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

@Suite struct `Whatever the bytes` {
  /// The example without its comments, so that changes hit what is read.
  private func example() throws -> [UInt8] {
    let lines = String(decoding: try ConfigFolder.bytes("proofd.example.yaml"), as: UTF8.self).split(separator: "\n")
    return Array(lines.map { $0.prefix { $0 != "#" } }.joined(separator: "\n").utf8)
  }

  /// A configuration comes out exactly when no error does, and problems are where the file is.
  private func check(_ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) {
    let (configuration, problems) = Configuration.parse(
      bytes: bytes, fileName: "f", baseDirectory: "/", home: "/home/me")
    let hasErrors = problems.contains { $0.severity == .error }
    #expect((configuration == nil) == hasErrors, sourceLocation: location)
    let lines =
      bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + bytes.count { $0 == 0x85 || $0 == 0xA8 }
      + 2
    #expect(
      problems.allSatisfy { (0...lines).contains($0.line) && ($0.line == 0) == ($0.column == 0) },
      sourceLocation: location)
  }

  @Test func `a file cut anywhere is read or refused`() throws {
    let bytes = try example()
    for end in stride(from: 0, to: bytes.count, by: 5) { check(Array(bytes[..<end])) }
  }

  @Test func `a file changed anywhere is read or refused`() throws {
    let bytes = try example()
    var random = SplitMix(state: 1)
    let marks = Array("{}[]:,-#&*!|>'\"%@`?\n\t ~".utf8) + [0, 0x7F, 0x80, 0xC3, 0xFF]
    for _ in 0..<1500 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: changed.indices, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: changed[at] = UInt8.random(in: .min ... .max, using: &random)
        case 1: changed[at] = marks.randomElement(using: &random) ?? 0
        case 2: changed.insert(marks.randomElement(using: &random) ?? 0, at: at)
        case 3: changed.removeSubrange(at..<min(changed.count, at + Int.random(in: 1...40, using: &random)))
        case 4: changed.insert(contentsOf: changed[at..<min(changed.count, at + 60)], at: at)
        default: changed.replaceSubrange(at..<at, with: Array("999999999999999999999".utf8))
        }
        if changed.isEmpty { break }
      }
      check(changed)
    }
  }

  @Test func `a value in another's place is read or refused`() throws {
    let lines = String(decoding: try example(), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    let values = lines.compactMap { line in line.firstIndex(of: ":").map { line[line.index(after: $0)...] } }
    var random = SplitMix(state: 2)
    for index in lines.indices {
      guard let colon = lines[index].firstIndex(of: ":") else { continue }
      for value in values.shuffled(using: &random).prefix(8) + [" {}", " []", " ''", "", " -1", " {a: [b]}"] {
        var changed = lines
        changed[index] = lines[index][...colon] + value
        check(Array(changed.joined(separator: "\n").utf8))
      }
    }
  }

  /// A megabyte of what a parser may dislike: seconds would show here as a hung test.
  @Test(arguments: [
    "[", "{", "- ", "? ", "a: ", "\"", "[a,", "{a: b,", "k\n", "!a ", "&a ", "*a ", "|\n", " ", "\n- ", "%",
  ])
  func `a megabyte of one thing is refused in time`(_ piece: String) {
    check(Array(String(repeating: piece, count: (1 << 20) / piece.utf8.count).utf8))
  }

  @Test func `random bytes are read or refused`() {
    var random = SplitMix(state: 3)
    for _ in 0..<2000 {
      let count = Int.random(in: 0..<200, using: &random)
      check((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
  }
}
