import Cryptography
import EventLoop
import Glibc

/// The program `proofd-sim`.
package enum SimulatorCommand {
  /// Runs until SIGTERM or SIGINT.
  ///
  /// - Parameter arguments: the command line, the program's name first.
  /// - Returns: the exit code: 0 stopped or helped, 1 could not start, 2 wrong usage.
  package static func run(_ arguments: [String]) -> Int32 {
    guard StandardDescriptors.fill() else { return 1 }  // and nowhere to say so
    let invocation: SimulatorArguments.Invocation
    do {
      invocation = try SimulatorArguments.parse(Array(arguments.dropFirst()))
    } catch {
      StandardStream.error.write("proofd-sim: \(error.detail)\nSee proofd-sim --help.\n")
      return 2
    }
    switch invocation {
    case .help:
      StandardStream.output.write(SimulatorArguments.help)
      return 0
    case .run(let options): return run(options)
    }
  }

  private static func run(_ options: SimulationOptions) -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    LibraryLifetime.lastsUntilProcessEnds()
    // Blocked before any thread starts, so that all inherit it and only sigwait sees them.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let simulation: Simulation
    do {
      simulation = try Simulation.start(options)
    } catch {
      StandardStream.error.write("proofd-sim: \(error)\n")
      return 1
    }
    let admin = simulation.adminURL.map { " admin=\($0)" } ?? ""
    StandardStream.output.write(
      "proofd-sim ready as=\(simulation.authorizationServer.url) api=\(simulation.api.url)\(admin)\n")
    var received: Int32 = 0
    sigwait(&signals, &received)
    simulation.stop()
    return 0
  }
}

/// The one place that writes to the terminal.
enum StandardStream: Int32 {
  case output = 1
  case error = 2

  /// Whoever closed the stream does not want the text.
  func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
