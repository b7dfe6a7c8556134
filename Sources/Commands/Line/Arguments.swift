import Configuration

/// One option a verb knows.
struct Option: Sendable {
  let name: String
  var short: String?
  /// What stands for the value in the help; nil for a flag.
  var value: String?
  let help: String

  static let config = Option(
    name: "--config", value: "FILE", help: "the configuration (default: $XDG_CONFIG_HOME/proofd/proofd.yaml)")
  static let json = Option(name: "--json", help: "print JSON")
}

/// One word a verb takes besides options; they come in order.
struct Operand: Sendable {
  /// As in the help: `NAME`.
  let name: String
  var isOptional = false
}

/// The words behind a verb, taken apart by the options and operands it knows.
struct Arguments {
  private var values: [String: [String]] = [:]
  private var operands: [String: String] = [:]

  /// - Throws: a usage failure that names the word and the nearest option.
  init(_ words: some Collection<String>, options: [Option], operands: [Operand] = []) throws(CommandFailure) {
    var rest = Array(words)[...]
    var expected = operands[...]
    var optionsEnded = false
    while let word = rest.popFirst() {
      if optionsEnded || !word.hasPrefix("-") || word == "-" {
        guard let operand = expected.popFirst() else { throw .usage("unexpected argument: \(word.printable)") }
        self.operands[operand.name] = word
        continue
      }
      if word == "--" {
        optionsEnded = true
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let option = options.first(where: { $0.name == parts[0] || $0.short == parts[0] }) else {
        throw Self.unknown(word, options)
      }
      if option.value == nil {
        guard parts.count == 1 else { throw .usage("\(option.name) takes no value") }
        values[option.name, default: []].append("")
      } else if parts.count == 2 {
        values[option.name, default: []].append(parts[1])
      } else if let value = rest.popFirst() {
        values[option.name, default: []].append(value)
      } else {
        throw .usage("\(option.name) needs a value: \(option.name) \(option.value ?? "")")
      }
    }
    if let missing = expected.first, !missing.isOptional { throw .usage("\(missing.name) is missing") }
  }

  private static func unknown(_ word: String, _ options: [Option]) -> CommandFailure {
    let name = String(word.prefix { $0 != "=" })
    let nearest = NearestKey.find(name, among: options.map(\.name))
    return .usage("unknown option: \(name.printable)", hint: nearest.map { "did you mean \($0)?" })
  }

  /// The word given for an operand; empty if there is none.
  func operand(_ name: String) -> String { operands[name] ?? "" }

  func has(_ option: String) -> Bool { values[option] != nil }
  func all(_ option: String) -> [String] { values[option] ?? [] }
  func last(_ option: String) -> String? { values[option]?.last }

  /// The value of an option that is a whole number within `range`.
  func number(_ option: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
    guard let text = last(option) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw .usage("\(option) takes a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}
