package import EventLoop

/// Why there is no control socket.
package enum ControlSocketError: Error, Sendable, Equatable, CustomStringConvertible {
  /// unix(7) allows `SocketAddress.unixPathBytesMax` bytes.
  case pathTooLong(String)
  /// The directory cannot be made or is not ours alone.
  case directory(path: String, reason: String)
  /// Something else than a socket has the name.
  case notASocket(String)
  /// Somebody listens there.
  case inUse(String)
  case system(path: String, SocketError)

  package var description: String {
    switch self {
    case .pathTooLong(let path):
      "\(path) is longer than the \(SocketAddress.unixPathBytesMax) bytes a socket's path can have; "
        + "set XDG_RUNTIME_DIR or `state` to a shorter one"
    case .directory(let path, let reason): "\(path): \(reason)"
    case .notASocket(let path): "\(path) is not a socket; move it away"
    case .inUse(let path):
      "another proofd serves \(path); stop it, or give this one an XDG_RUNTIME_DIR of its own"
    case .system(let path, let error): "\(path): \(error)"
    }
  }
}
