import Configuration
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
    do throws(CommandFailure) {
      return try run(arguments.dropFirst(), Invocation(environment: environment, terminal: terminal, probes: probes))
        .rawValue
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
      let name = rest.first { !["--help", "-h"].contains($0) }
      invocation.terminal.result(
        try name.map { (name) throws(CommandFailure) in Help.text(try find(name)) } ?? Help.overview)
      return .ok
    default: break
    }
    let verb = try find(word)
    if rest.contains("--help") || rest.contains("-h") {
      invocation.terminal.result(Help.text(verb))
      return .ok
    }
    return try verb.run(try Arguments(rest, options: verb.options), invocation)
  }

  private static func find(_ name: String) throws(CommandFailure) -> Verb {
    if let verb = Verb.all.first(where: { $0.name == name }) { return verb }
    let nearest = NearestKey.find(name, among: Verb.all.map(\.name))
    throw .usage(
      "unknown verb: \(name)", hint: nearest.map { "did you mean \($0)?" } ?? "see proofd --help")
  }
}
