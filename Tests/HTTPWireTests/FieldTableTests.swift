import HTTPWire
import Testing

/// What a table of fields answers without, or before, it looks at each of them.
struct FieldTableTests {
  private static let limits = HeadLimits(headBytesMax: 65_536, fieldCountMax: 200)
  private static let allIDs = (0...UInt8.max).compactMap { FieldID(rawValue: $0) }
  private let table = FieldTable(capacity: Self.limits.fieldCountMax)

  /// Fills the table as a parse does, with one field for each name and its position as the value.
  private func fill(_ names: [String]) throws {
    let lines = names.enumerated().map { "\($1): \($0)\r\n" }.joined() + "\r\n"
    try latin1(lines).withUnsafeBytes {
      try TrailerSection.parse($0, limits: Self.limits, fields: table).get()
    }
    #expect(table.count == names.count)
  }

  /// As written, in small and in large letters, and in both by turns.
  private static func spellings(_ name: String) -> [String] {
    let mixed = name.enumerated().map { $0 % 2 == 0 ? $1.lowercased() : $1.uppercased() }.joined()
    return [name, name.lowercased(), name.uppercased(), mixed]
  }

  @Test func `every known field has a bit of its own`() {
    #expect(Self.allIDs.allSatisfy { $0.rawValue < 64 })
    #expect(Set(FieldTests.names.map(\.1)).union([.other]) == Set(Self.allIDs))
  }

  @Test(arguments: FieldTests.names)
  func `a field that is there is there in any case of letters, and no other is`(name: String, id: FieldID) throws {
    for spelling in Self.spellings(name) {
      try fill([spelling])
      #expect(Self.allIDs.filter(table.has) == [id])
      for other in Self.allIDs {
        #expect(table.firstIndex(of: other) == (other == id ? 0 : nil))
        #expect(table.count(of: other) == (other == id ? 1 : 0))
      }
    }
  }

  @Test(arguments: FieldTests.names)
  func `a field in several spellings is one field, as often as it was sent`(name: String, id: FieldID) throws {
    let spellings = Self.spellings(name)
    try fill(spellings.flatMap { ["X-Between", $0] })
    #expect(table.has(id) && table.has(.other))
    #expect(table.count(of: id) == spellings.count)
    var found: [Int] = []
    while let next = table.firstIndex(of: id, from: (found.last ?? -1) + 1) { found.append(next) }
    #expect(found == spellings.indices.map { 2 * $0 + 1 })
  }

  @Test(arguments: [0, 1, 62, 63, 64, 65, 127, 128, 198, 199])
  func `a field is found wherever it stands among many`(position: Int) throws {
    for (name, id) in FieldTests.names {
      var names = Array(repeating: "X-Other", count: Self.limits.fieldCountMax)
      names[position] = name
      try fill(names)
      #expect(Self.allIDs.filter(table.has) == [.other, id])
      #expect(table.firstIndex(of: id) == position && table.count(of: id) == 1)
      #expect(table.firstIndex(of: id, from: position + 1) == nil)
      #expect(table.count(of: .other) == names.count - 1)
    }
  }

  @Test func `more than 64 of one field are counted`() throws {
    try fill(Array(repeating: "Set-Cookie", count: 150) + ["sET-cOOKIE"])
    #expect(table.count(of: .setCookie) == 151)
    #expect(table.firstIndex(of: .setCookie, from: 150) == 150)
  }

  @Test func `nothing is left of the head before, nor of one that was refused`() throws {
    try fill(FieldTests.names.map(\.0))
    try fill(["Date"])
    #expect(Self.allIDs.filter(table.has) == [.date])

    let broken = latin1("Host: a\r\nCookie: b\r\nbroken\r\n\r\n").withUnsafeBytes {
      TrailerSection.parse($0, limits: Self.limits, fields: table).violation
    }
    #expect(broken == .missingColon)
    try fill([])
    #expect(Self.allIDs.allSatisfy { !table.has($0) && table.firstIndex(of: $0) == nil })

    try fill(["Date"])
    table.removeAll()
    #expect(table.count == 0 && !table.has(.date) && table.count(of: .date) == 0)
  }

  @Test func `a field that finds the table full leaves no trace`() {
    let small = FieldTable(capacity: 2)
    let full = latin1("Date: 1\r\nServer: 2\r\nCookie: 3\r\n\r\n").withUnsafeBytes {
      TrailerSection.parse($0, limits: Self.limits, fields: small).violation
    }
    #expect(full == .tooManyFields)
    #expect(small.count == 2 && !small.has(.cookie) && small.firstIndex(of: .cookie) == nil)
  }

  @Test func `whatever the fields are, the answers are those of a plain list`() throws {
    var random = SeededRandom(seed: 7)
    let unknown = ["X", "Hosts", "X-Forwarded", "Content-Lengths", "Proof"].map { ($0, FieldID.other) }
    let known = FieldTests.names + unknown
    for _ in 0..<500 {
      // Few enough kinds that some are missing and others are repeated.
      let kinds = (0..<Int.random(in: 1...20, using: &random)).compactMap { _ in known.randomElement(using: &random) }
      let sent = (0..<Int.random(in: 0...200, using: &random)).compactMap { _ in kinds.randomElement(using: &random) }
      try fill(sent.compactMap { Self.spellings($0.0).randomElement(using: &random) })
      for id in Self.allIDs {
        let places = sent.indices.filter { sent[$0].1 == id }
        let start = Int.random(in: 0...sent.count, using: &random)
        #expect(table.has(id) == !places.isEmpty)
        #expect(table.count(of: id) == places.count)
        #expect(table.firstIndex(of: id) == places.first)
        #expect(table.firstIndex(of: id, from: start) == places.first { $0 >= start })
      }
    }
  }
}
