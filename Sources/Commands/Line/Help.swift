import Daemon

/// The texts of `--help`.
enum Help {
  static var overview: String {
    let width = Verb.all.map(\.name.count).max() ?? 0
    let verbs = Verb.all.map { "  \(padded($0.name, width))  \($0.summary)" }.joined(separator: "\n")
    return """
      proofd \(Daemon.version): a local HTTP gateway that authenticates for you

      usage: proofd VERB [options]

      \(verbs)
        \(padded("help", width))  show the help of a verb: proofd help serve

      Every verb explains itself with --help. Results go to standard output, everything else to standard error.
      Exit codes: 0 ok, 1 failed, 2 usage or configuration, 3 login or unlock needed, 4 daemon unreachable.

      example:
        proofd serve --config proofd.yaml &
        curl http://127.0.0.1:9449/orders/1
      """
  }

  static func text(_ verb: Verb) -> String {
    guard verb.subverbs.isEmpty else { return group(verb) }
    let options = verb.options + [Option(name: "--help", short: "-h", help: "show this")]
    let heads = options.map { option in
      [option.short, option.name].compactMap { $0 }.joined(separator: ", ") + (option.value.map { " " + $0 } ?? "")
    }
    let width = heads.map(\.count).max() ?? 0
    let list = zip(heads, options).map { "  \(padded($0, width))  \($1.help)" }.joined(separator: "\n")
    return """
      proofd \(verb.name): \(verb.summary)

      usage: proofd \(verb.name)\(operands(verb))\(verb.options.isEmpty ? "" : " [options]")

      \(verb.about)

      options:
      \(list)

      examples:
      \(examples(verb))
      """
  }

  private static func group(_ verb: Verb) -> String {
    let width = verb.subverbs.map(\.name.count).max() ?? 0
    return """
      proofd \(verb.name): \(verb.summary)

      usage: proofd \(verb.name) VERB [options]

      \(verb.about)

      \(verb.subverbs.map { "  \(padded($0.name, width))  \($0.summary)" }.joined(separator: "\n"))

      examples:
      \(examples(verb))
      """
  }

  private static func operands(_ verb: Verb) -> String {
    verb.operands.map { $0.isOptional ? " [\($0.name)]" : " \($0.name)" }.joined()
  }

  private static func examples(_ verb: Verb) -> String {
    verb.examples.map { "  \($0.command)\n      \($0.does)" }.joined(separator: "\n")
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
