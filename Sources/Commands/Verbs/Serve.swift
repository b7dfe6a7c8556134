import Configuration
import Console
import Daemon
import EventLoop
import Glibc

extension Verb {
  static let serve = Verb(
    name: "serve", summary: "run the gateway",
    about: """
      Reads the configuration, listens, and forwards requests until SIGTERM or Ctrl-C; requests under way are finished
      first. One line on standard output names the URL when requests can be sent. Request records go to standard error,
      or to `log.file`; no secret is in them.
      """,
    options: [
      .config,
      Option(name: "--listen", value: "ADDRESS", help: "listen here instead of on `listen`; may be repeated"),
      Option(name: "--port", value: "N", help: "listen on 127.0.0.1:N; 0 picks a free port"),
    ],
    examples: [
      ("proofd serve", "serves the default configuration"),
      ("proofd serve --config proofd.yaml --port 0", "serves on a free port and prints it"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    var configuration = try ConfigurationFile.load(arguments, invocation)
    if let addresses = try listenAddresses(arguments) { configuration.listen = addresses }
    let daemon: Daemon
    do throws(DaemonError) {
      daemon = try Daemon(
        configuration,
        controlSocketPath: ControlSocketPath.path(
          environment: invocation.environment, stateDirectory: configuration.stateDirectory),
        probes: invocation.probes)
    } catch {
      throw CommandFailure(exitCode: .failed, message: error.description)
    }
    for warning in daemon.warnings { invocation.terminal.talk("proofd: warning: \(warning)") }
    let signalled = daemon.watchSignals()
    ProcessMemory.releaseCode()
    invocation.terminal.announce(daemon.announcement)
    signalled.wait()
    let ended = ThreadGate()
    Task {
      await daemon.stop()
      ended.open()
    }
    ended.wait()
    return .ok
  }

  private static func listenAddresses(_ arguments: Arguments) throws(CommandFailure) -> [ListenAddress]? {
    var addresses: [ListenAddress] = []
    for text in arguments.all("--listen") {
      do throws(ListenAddress.Violation) {
        addresses.append(try ListenAddress(parsing: text))
      } catch {
        throw .usage(
          "--listen \(text): not a loopback address with a port, nor unix:/path", hint: "for instance 127.0.0.1:9449")
      }
    }
    if let port = try arguments.number("--port", in: 0...65_535) {
      addresses.append(.tcp(host: "127.0.0.1", port: UInt16(port)))
    }
    return addresses.isEmpty ? nil : addresses
  }
}
