/// Why the daemon does not start.
package enum DaemonError: Error, Sendable, CustomStringConvertible {
  /// Another process listens there, most likely another proofd.
  case addressInUse(String)
  case cannotListen(address: String, reason: String)
  case log(String)
  case trust(route: String, reason: String)
  case credential(name: String, reason: String)
  case control(String)
  /// `callers: same-user` cannot be kept without the kernel's help.
  case callers(String)

  package var description: String {
    switch self {
    case .addressInUse(let address):
      "\(address) is in use by another process, perhaps another proofd; stop it or choose another `listen`"
    case .cannotListen(let address, let reason): "cannot listen on \(address): \(reason)"
    case .log(let reason): "cannot write the log: \(reason)"
    case .trust(let name, let reason): "\(name): cannot use the trusted certificates: \(reason)"
    case .credential(let name, let reason): "credentials.\(name): \(reason)"
    case .callers(let reason):
      "cannot tell who connects, as `callers: same-user` demands (is the kernel module inet_diag there?): \(reason)"
    case .control(let reason): "cannot open the control socket: \(reason)"
    }
  }
}
