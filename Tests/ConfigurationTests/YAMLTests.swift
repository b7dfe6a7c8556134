import Configuration
import Testing

@Suite struct `The file as YAML` {
  @Test(arguments: [
    Mistake("listen: [127.0.0.1:1", "2:1: error: not valid YAML: did not find expected ',' or ']'"),
    Mistake("a: b: c", "1:5: error: not valid YAML: mapping values are not allowed in this context"),
    Mistake("threads: 2\n\tlog: x", "2:1: error: not valid YAML: found a tab character that violates indentation"),
    Mistake("state: /a\u{7}", "1:10: error: not valid YAML: control characters are not allowed"),
    Mistake("threads: &x 2", "1:10: error: threads: anchors (&name) are not accepted; write the value out"),
    Mistake("threads: *x", "1:10: error: threads: aliases (*name) are not accepted; write the value out"),
    Mistake(
      "threads: !!int 2",
      "1:10: error: threads: tags (!name) are not accepted; values get their type from their key"),
    Mistake(
      "threads: 2\n---\nthreads: 3",
      "2:1: error: a second document begins here; the configuration is one document"),
    Mistake("threads: 2\nstate: /a\nthreads: 3", "3:1: error: threads: the key is here twice; the first is on line 1"),
    Mistake("[a, b]: c", "1:1: error: a key must be a plain name"),
    Mistake("<<: {threads: 2}", "1:1: error: <<: unknown key"),
    Mistake("- threads", "1:1: error: must be a mapping with keys such as listen, allowed_hosts, state"),
    Mistake("{}\n--- x\n", "2:1: error: a second document begins here; the configuration is one document"),
  ])
  func `refuses what can be misread`(_ mistake: Mistake) {
    let found = problems(mistake.text).filter { !$0.contains("no routes") }
    #expect(found == [mistake.problem])
    #expect(parse(mistake.text).configuration == nil)
  }

  @Test(arguments: ["", "# nothing\n", "---\n...\n"])
  func `says that a file is empty`(_ text: String) {
    let found = parse(text)
    #expect(found.configuration == nil)
    #expect(found.problems.count == 1)
  }

  @Test func `is text in UTF-8`() {
    func problem(_ bytes: [UInt8]) -> String? {
      Configuration.parse(bytes: bytes, fileName: "f", baseDirectory: "/", home: nil).problems.first?.description
    }
    #expect(
      problem(Array("a: é\nb: ".utf8) + [0xFF]) == "f:2:4: error: not valid YAML: invalid leading UTF-8 octet")
    #expect(
      problem([0xFF, 0xFE, 0x61, 0x00]) == "f:1:1: error: not valid YAML: invalid leading UTF-8 octet", "UTF-16")
    #expect(problem(Array("a: ".utf8) + [0xC3]) == "f:1:4: error: not valid YAML: incomplete UTF-8 octet sequence")
    #expect(problem(Array("a: ".utf8) + [0]) == "f:1:4: error: not valid YAML: control characters are not allowed")
  }

  @Test func `may begin with a byte order mark`() throws {
    #expect(try configuration("\u{FEFF}threads: 3\nroutes: {}").threads == 3)
  }

  @Test func `is at most 1 MiB long`() {
    let text = "threads: 3\nroutes: {}\n"
    let comment = String(repeating: "#", count: (1 << 20) - text.utf8.count)
    #expect(parse(text + comment).problems.isEmpty)
    #expect(
      parse(text + comment + "#").problems.map(\.description) == ["proofd.yaml: error: the file is larger than 1 MiB"])
  }

  @Test func `is at most 32 levels deep`() {
    func nested(_ depth: Int) -> [String] {
      problems(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
    }
    #expect(nested(32) == ["1:1: error: must be a mapping with keys such as listen, allowed_hosts, state"])
    #expect(nested(33) == ["1:33: error: not valid YAML: more than 32 levels of nesting"])
    #expect(nested(100_000).count == 1)
  }

  @Test func `may be JSON`() throws {
    let value = try configuration(
      #"{"listen": ["127.0.0.1:0"], "threads": 2, "routes": {"r": {"path": "/r", "upstream": "https://api.example/"}}}"#
    )
    #expect(value.listen == [.tcp(host: "127.0.0.1", port: 0)])
    #expect(value.routes.map(\.path) == ["/r"])
  }

  @Test func `shows no control characters of a key`() {
    #expect(problems("\"a\\e[31mb\\u202e\": 1").first == #"1:1: error: a\u{1b}[31mb\u{202e}: unknown key"#)
    let long = String(repeating: "k", count: 100)
    #expect(problems("\(long): 1").first == "1:1: error: \(long.prefix(64))…: unknown key")
  }

  @Test func `has at most 200 problems shown`() {
    let found = problems((1...300).map { "k\($0): 1" }.joined(separator: "\n"))
    #expect(found.count == 201)
    #expect(found.last?.contains("more problems are not shown") == true)
  }
}
