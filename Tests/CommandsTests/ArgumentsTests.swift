import Testing

@testable import Commands

struct ArgumentsTests {
  private static let options = [
    Option.config, Option.json, Option(name: "--lines", short: "-n", value: "N", help: "how many"),
  ]

  @Test func `values come behind a space or an equals sign, and short names work`() throws {
    let arguments = try Arguments(
      ["--config", "a.yaml", "-n", "5", "--config=b.yaml", "--json"], options: Self.options)
    #expect(arguments.all("--config") == ["a.yaml", "b.yaml"] && arguments.last("--config") == "b.yaml")
    #expect(try arguments.number("--lines", in: 0...10) == 5)
    #expect(arguments.has("--json"))
  }

  @Test(arguments: [
    ["--confg", "x"], ["--config"], ["--json=1"], ["extra"], ["-x"], ["--", "--json"],
  ])
  func `what a verb does not know is a usage failure`(words: [String]) {
    #expect { try Arguments(words, options: Self.options) } throws: { ($0 as? CommandFailure)?.exitCode == .usage }
  }

  private static let operands = [Operand(name: "NAME"), Operand(name: "FILE", isOptional: true)]

  @Test(arguments: [
    (["acme", "-"], "acme", "-"), (["--json", "acme", "-n", "5", "x"], "acme", "x"), (["acme"], "acme", ""),
    (["--", "--json", "-n"], "--json", "-n"), (["acme", "--", "-x"], "acme", "-x"),
  ])
  func `operands come in order among options`(words: [String], name: String, file: String) throws {
    let arguments = try Arguments(words, options: Self.options, operands: Self.operands)
    #expect(arguments.operand("NAME") == name && arguments.operand("FILE") == file)
  }

  @Test(arguments: [[], ["--json"], ["a", "b", "c"], ["-x", "a"]])
  func `an operand that is missing or too much is a usage failure`(words: [String]) {
    #expect { try Arguments(words, options: Self.options, operands: Self.operands) } throws: {
      ($0 as? CommandFailure)?.exitCode == .usage
    }
  }

  @Test func `an unknown option names the nearest one`() {
    #expect { try Arguments(["--confg"], options: Self.options) } throws: {
      ($0 as? CommandFailure)?.hint == "did you mean --config?"
    }
  }

  @Test(arguments: ["11", "-1", "x", "", "1.5"])
  func `a number outside its range is a usage failure`(text: String) throws {
    let arguments = try Arguments(["--lines", text], options: Self.options)
    #expect(throws: CommandFailure.self) { try arguments.number("--lines", in: 0...10) }
  }
}

struct HelpTests {
  @Test(arguments: Verb.all + Verb.all.flatMap(\.subverbs))
  func `every verb has a summary, options with words, and an example that names it`(verb: Verb) {
    let text = Help.text(verb)
    #expect(text.contains("usage: proofd \(verb.name)"))
    #expect(!verb.examples.isEmpty && verb.examples.allSatisfy { $0.command.hasPrefix("proofd \(verb.name)") })
    #expect(verb.options.allSatisfy { !$0.help.isEmpty && $0.name.hasPrefix("--") })
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    #expect((Help.overview + Help.text(.credentials)).contains(verb.summary))
  }
}

struct ExitCodeTests {
  @Test(
    arguments: [
      (["proofd"], 2), (["proofd", "--help"], 0), (["proofd", "--version"], 0), (["proofd", "help", "serve"], 0),
      (["proofd", "help", "nothing"], 2), (["proofd", "nothing"], 2), (["proofd", "tail", "--nothing"], 2),
      (["proofd", "credentials"], 2), (["proofd", "credentials", "--help"], 0), (["proofd", "credentials", "lst"], 2),
      (["proofd", "help", "credentials"], 0), (["proofd", "help", "credentials", "import"], 0),
      (["proofd", "credentials", "import", "--help"], 0), (["proofd", "credentials", "show"], 2),
      (["proofd", "token"], 2), (["proofd", "token", "a", "--min-ttl", "25h"], 2), (["proofd", "headers", "a"], 2),
      (["proofd", "tail", "--help"], 0), (["proofd", "status"], 4), (["proofd", "tail"], 4),
      (["proofd", "check", "--config", "/nonexistent/proofd.yaml"], 2),
      (["proofd", "serve", "--config", "/nonexistent/proofd.yaml"], 2),
      (["proofd", "tail", "--status", "9xx", "--file", "/dev/null"], 2),
      (["proofd", "tail", "--file", "/dev/null"], 0),
      (["proofd", "tail", "--file", "/nonexistent/log"], 1),
    ] as [([String], Int32)])
  func `outcomes become the documented exit codes`(words: [String], code: Int32) {
    #expect(CommandLineTool.run(words, environment: ["XDG_RUNTIME_DIR": "/nonexistent"]) == code)
  }
}
