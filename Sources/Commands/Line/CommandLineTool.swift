import Configuration
import Cryptography
package import Daemon
import EventLoop
import Glibc

/// The `proofd` program: finds the verb, runs it, and turns its outcome into an exit code.
package enum CommandLineTool {
  /// "1" leaves the process open to a debugger of the same user, which it is to nobody otherwise.
  private static let inspectableVariable = "PROOFD_INSPECTABLE"

  /// - Parameters:
  ///   - arguments: the words of the command line, the program's name first.
  ///   - probes: told how far each refresh has come.
  /// - Returns: the exit code.
  package static func run(
    _ arguments: [String], environment: [String: String] = ProcessEnvironment.variables, probes: RefreshProbes = .none
  ) -> Int32 {
    guard StandardDescriptors.fill() else { return ExitCode.failed.rawValue }  // and nowhere to say so
    let terminal = Terminal(environment: environment)
    let allowsInspection = environment[inspectableVariable] == "1"
    guard ProcessSecrecy.begin(allowsInspection: allowsInspection) else {
      terminal.talk("proofd: the system refuses to keep core files and other processes from this one's memory")
      return ExitCode.failed.rawValue
    }
    if allowsInspection {
      terminal.talk(
        "proofd: warning: \(inspectableVariable) lets other processes of this user read what this one holds")
    }
    signal(SIGPIPE, SIG_IGN)
    LibraryLifetime.lastsUntilProcessEnds()
    do throws(CommandFailure) {
      let code = try run(
        arguments.dropFirst(), Invocation(environment: environment, terminal: terminal, probes: probes))
      return PatientEnding.exitCode ?? code.rawValue
    } catch {
      terminal.talk("proofd: \(error.message.printable)")
      if let hint = error.hint { terminal.talk("  \(hint.printable)") }
      return error.exitCode.rawValue
    }
  }

  private static func run(
    _ words: ArraySlice<String>, _ invocation: Invocation
  ) throws(CommandFailure) -> ExitCode {
    guard let word = words.first else {
      invocation.terminal.talk(Help.overview)
      return .usage
    }
    let rest = words.dropFirst()
    switch word {
    case "--version", "-V":
      invocation.terminal.result("proofd \(Daemon.version)")
      return .ok
    case "--help", "-h":
      invocation.terminal.result(Help.overview)
      return .ok
    case "help":
      let names = rest.filter { !["--help", "-h"].contains($0) }
      invocation.terminal.result(names.isEmpty ? Help.overview : Help.text(try find(names[...]).verb))
      return .ok
    default: break
    }
    let (verb, behind) = try find(words)
    if behind.contains("--help") || behind.contains("-h") {
      invocation.terminal.result(Help.text(verb))
      return .ok
    }
    guard verb.subverbs.isEmpty else {
      invocation.terminal.talk(Help.text(verb))
      return .usage
    }
    return try verb.run(try Arguments(behind, options: verb.options, operands: verb.operands), invocation)
  }

  /// The verb the first words name, and the words behind them. A verb that has subverbs when none of them is named.
  private static func find(
    _ words: ArraySlice<String>
  ) throws(CommandFailure) -> (verb: Verb, rest: ArraySlice<String>) {
    var (verb, rest): (Verb?, ArraySlice<String>) = (nil, words)
    var choices = Verb.all
    while !choices.isEmpty, let word = rest.first, verb == nil || !word.hasPrefix("-") {
      let prefix = verb.map { "\($0.name) " } ?? ""
      guard let found = choices.first(where: { $0.name == prefix + word }) else {
        let nearest = NearestKey.find(word, among: choices.map { String($0.name.dropFirst(prefix.count)) })
        throw .usage(
          "unknown verb: \(prefix)\(word)",
          hint: nearest.map { "did you mean \(prefix)\($0)?" } ?? "see proofd \(prefix)--help")
      }
      (verb, rest, choices) = (found, rest.dropFirst(), found.subverbs)
    }
    guard let verb else { throw .usage("no verb is named", hint: "see proofd --help") }
    return (verb, rest)
  }
}
