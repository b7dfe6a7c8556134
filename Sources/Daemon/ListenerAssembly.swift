import Configuration
import EventLoop
import Gateway
import Glibc

/// The bound addresses, and the authorities that requests may name because of them.
struct ListenerAssembly {
  private(set) var listeners: [ListenerGroup] = []
  /// The same as the configuration writes them, with the ports that were picked.
  private(set) var bound: [ListenAddress] = []
  /// To be removed at the end, unless a successor has bound in their place while this daemon drained.
  private var socketFiles: [BoundSocketFile] = []

  init(_ configuration: Configuration) throws(DaemonError) {
    do throws(DaemonError) {
      for wanted in configuration.listen { try bind(wanted, loops: configuration.threads) }
    } catch {
      abandon()
      throw error
    }
  }

  private mutating func bind(_ wanted: ListenAddress, loops: Int) throws(DaemonError) {
    let address: SocketAddress?
    switch wanted {
    case .tcp(let host, let port): address = SocketAddress(numericHost: host, port: port)
    case .unix(let path):
      address = SocketAddress(unixPath: path)
      try Self.removeStale(path)
    }
    guard let address else { throw .cannotListen(address: "\(wanted)", reason: "not an address") }
    do throws(SocketError) {
      let group = try ListenerGroup(binding: address, count: loops)
      listeners.append(group)
      bound.append(wanted.withPort(group.address.port))
      if case .unix(let path) = wanted { socketFiles.append(try BoundSocketFile(path)) }
    } catch {
      if error.isAddressInUse { throw .addressInUse("\(wanted)") }
      throw .cannotListen(address: "\(wanted)", reason: error.description)
    }
  }

  /// A socket file that nobody listens on is left from a crash.
  private static func removeStale(_ path: String) throws(DaemonError) {
    guard let address = SocketAddress(unixPath: path) else { return }
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw .cannotListen(address: "unix:\(path)", reason: "a file that is no socket has this name")
    }
    if address.isAccepting { throw .addressInUse("unix:\(path)") }
    unlink(path)
  }

  /// `Host` values for what is bound: every name of the loopback interface with the port, and the configured ones.
  func admission(_ configuration: Configuration) -> Admission {
    var authorities = configuration.allowedHosts
    var routeAuthorities: [(authority: String, route: Int)] = []
    for listener in listeners {
      let ports: [UInt16?] = listener.address.isUnix ? [nil] : [listener.address.port]
      for port in ports {
        let suffix = port.map { $0 == 80 ? "" : ":\($0)" } ?? ""
        for name in ["localhost", "127.0.0.1", "[::1]"] { authorities.append(name + suffix) }
        if !listener.address.isUnix { authorities.append(listener.address.description.strippingPort80) }
        for (index, route) in configuration.routes.enumerated() {
          routeAuthorities.append((route.name + ".localhost" + suffix, index))
        }
      }
    }
    return Admission(authorities: authorities, routeAuthorities: routeAuthorities)
  }

  /// What the ready line names: the first address as a URL.
  var url: String {
    guard let first = bound.first else { return "nowhere" }
    return if case .tcp = first { "http://\(first)" } else { "\(first)" }
  }

  /// After the loops have closed their descriptors.
  func close() { for file in socketFiles { file.remove() } }

  /// Closes what no loop took over: the daemon does not start.
  func abandon() {
    for listener in listeners { for descriptor in listener.descriptors { Glibc.close(descriptor) } }
    close()
  }
}

extension ListenAddress {
  fileprivate func withPort(_ port: UInt16?) -> ListenAddress {
    if case .tcp(let host, _) = self, let port { .tcp(host: host, port: port) } else { self }
  }
}

extension String {
  fileprivate var strippingPort80: String { hasSuffix(":80") ? String(dropLast(3)) : self }
}
