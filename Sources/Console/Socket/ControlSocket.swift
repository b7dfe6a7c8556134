import EventLoop
import Glibc
import Locking

/// The bound UNIX socket of the admin API. Whoever binds it owns the daemon's place: there is one per path.
package final class ControlSocket: Sendable {
  package let path: String
  private let file: BoundSocketFile
  /// Negative once a server has taken it.
  private let descriptor: Protected<Int32>

  /// Binds and listens; connections wait until a ``ControlServer`` takes them. Blocks while somebody else binds there.
  ///
  /// - Parameter path: absolute. A socket file that nobody listens on is left from a crash and is replaced.
  /// - Throws: `ControlSocketError`.
  package init(path: String) throws(ControlSocketError) {
    guard let address = SocketAddress(unixPath: path), let slash = path.lastIndex(of: "/") else {
      throw .pathTooLong(path)
    }
    let directory = slash == path.startIndex ? "/" : String(path[..<slash])
    try ControlDirectory.prepare(directory)
    self.path = path
    let bound = try ControlDirectory.withLock(directory) { () throws(ControlSocketError) in
      try Self.removeStale(path, address)
      return try Self.bind(path, address)
    }
    descriptor = Protected(bound.descriptor)
    file = bound.file
  }

  deinit {
    let rest = descriptor.withLock { $0 }
    if rest >= 0 { close(rest) }
    remove()
  }

  /// The listening descriptor, once; it is the caller's from then on.
  func take() -> Int32 {
    descriptor.withLock { descriptor in
      precondition(descriptor >= 0, "the control socket has one server")
      defer { descriptor = -1 }
      return descriptor
    }
  }

  /// Unlinks the file, if it is still the one that was bound here.
  func remove() {
    file.remove()
  }

  private static func removeStale(_ path: String, _ address: SocketAddress) throws(ControlSocketError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path) }
    if address.isAccepting { throw .inUse(path) }
    unlink(path)
  }

  private static func bind(
    _ path: String, _ address: SocketAddress
  ) throws(ControlSocketError) -> (descriptor: Int32, file: BoundSocketFile) {
    do throws(SocketError) {
      let group = try ListenerGroup(binding: address, count: 1, backlog: 64)
      do throws(SocketError) {
        guard let descriptor = group.descriptors.first else { throw SocketError("socket") }
        return (descriptor, try BoundSocketFile(path))
      } catch {
        for descriptor in group.descriptors { close(descriptor) }
        throw error
      }
    } catch {
      throw .system(path: path, error)
    }
  }
}
