import Configuration

/// Loads the configuration a verb works on and shows what is wrong with it.
enum ConfigurationFile {
  /// - Throws: a usage failure after every problem has been shown.
  ///
  /// - Parameter quietly: warnings are left out.
  static func load(
    _ arguments: Arguments, _ invocation: Invocation, quietly: Bool = false
  ) throws(CommandFailure) -> Configuration {
    let (configuration, problems) = try read(arguments, invocation)
    for problem in problems where !quietly || problem.severity == .error {
      invocation.terminal.talk(problem.description.printable)
    }
    guard let configuration else {
      throw .usage("the configuration cannot be used", hint: "each line above names a place in it")
    }
    return configuration
  }

  static func read(
    _ arguments: Arguments, _ invocation: Invocation
  ) throws(CommandFailure) -> (configuration: Configuration?, problems: [ConfigurationProblem]) {
    Configuration.load(path: try path(arguments, invocation), environment: invocation.environment)
  }

  static func path(_ arguments: Arguments, _ invocation: Invocation) throws(CommandFailure) -> String {
    if let path = arguments.last("--config") { return path }
    guard let path = Configuration.defaultPath(environment: invocation.environment) else {
      throw .usage("there is no default configuration without HOME", hint: "name one with --config FILE")
    }
    return path
  }
}
