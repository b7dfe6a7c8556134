import Testing

@Suite struct HouseRuleTests {
  static let linesMax = 500
  /// An awaited sleep blocks no thread: it is how a timeout is written, and tests replace it. A `Mutex` is a lock the thread
  /// sanitizer does not see: `Locking` has one that it does.
  static let forbidden =
    #"try!|\b(?:print|debugPrint|fatalError)\(|(?<!await )(?<!await Task\.)\bu?sleep\(|\b(?:TODO|FIXME|XXX)\b|\bMutex[(<]"#

  @Test func `the top of the repository holds what a visitor expects and nothing else`() throws {
    let expected: Set = [
      "Package.swift", "Sources", "Tests", "Config", "Examples", "README.md", "LICENSE", "CHANGELOG.md",
    ]
    let visible = try Repository.entries(of: ".").filter { !$0.hasPrefix(".") }
    #expect(Set(visible).subtracting(expected).isEmpty)
    #expect(visible.contains("Package.swift"))
  }

  @Test func `no file is longer than its reader can hold`() throws {
    for file in try Repository.swiftFiles(under: "Sources") + Repository.swiftFiles(under: "Tests") {
      #expect(file.lineCount <= Self.linesMax, "\(file.path)")
    }
  }

  @Test func `no folder collects leftovers`() throws {
    let leftovers: Set<Substring> = ["Utils", "Utilities", "Helpers", "Extensions", "Common", "Misc"]
    for path in try Repository.paths(under: "Sources") + Repository.paths(under: "Tests") {
      #expect(leftovers.isDisjoint(with: path.split(separator: "/")), "\(path)")
    }
  }

  @Test func `the sources hold no trap, stub or stray output`() throws {
    let line = try Pattern("^.*(?:\(Self.forbidden)).*$")
    for file in try Repository.swiftFiles(under: "Sources") {
      #expect(line.matches(in: file.text).map { $0[0] }.isEmpty, "\(file.path)")
    }
  }

  @Test(arguments: [
    "try! x()", "print(x)", "  debugPrint(x)", "// TODO: x", "fatalError()", "fatalError(\"x\")", "// FIXME",
    "sleep(1)", "let x = Mutex(0)", "let x: Mutex<Int>",
  ])
  func `a forbidden word is found`(line: String) throws {
    #expect(try Pattern(Self.forbidden).matches(in: line).count == 1)
  }

  /// Where a secret leaves the process on purpose: the two verbs that print one and the answer they ask for.
  static let revealing: Set = [
    "Sources/Commands/Verbs/Token.swift", "Sources/Commands/Verbs/Headers.swift",
    "Sources/Console/API/TokenAnswer.swift",
  ]

  @Test func `a secret is revealed in the verbs that are for it and nowhere else`() throws {
    let reveal = try Pattern(Self.reveal)
    for file in try Repository.swiftFiles(under: "Sources") where !Self.revealing.contains(file.path) {
      #expect(reveal.matches(in: file.text).isEmpty, "\(file.path)")
    }
  }

  static let reveal = #"\.reveal\(|\bAdminAnswer\(revealing:"#

  @Test(arguments: ["terminal.reveal(token)", "AdminAnswer(revealing: json)"])
  func `a revelation is found`(line: String) throws {
    #expect(try Pattern(Self.reveal).matches(in: line).count == 1)
  }

  @Test(arguments: [
    "fingerprint(x)", "blueprint(of: x)", "try x()", "func sleepers(1)", "try await Task.sleep(for: x)",
    "await sleep(x)",
  ])
  func `a word that only looks like a forbidden one is not`(line: String) throws {
    #expect(try Pattern(Self.forbidden).matches(in: line).isEmpty)
  }
}
