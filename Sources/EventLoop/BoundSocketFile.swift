import CLinux
import Glibc

/// The file of a UNIX-domain socket that this process has bound. Whoever comes later may remove it and bind in its
/// place: this one removes no file but its own.
package final class BoundSocketFile: Sendable {
  package let path: String
  /// Keeps the inode, whose number a new file could get otherwise.
  private let descriptor: Int32

  /// - Parameter path: bound just now.
  /// - Throws: `SocketError` when the file cannot be looked at.
  package init(_ path: String) throws(SocketError) {
    descriptor = open(path, proofd_open_path_only)
    guard descriptor >= 0 else { throw SocketError("open") }
    self.path = path
  }

  deinit { close(descriptor) }

  /// Unlinks the file, unless the path names another by now. Further calls do nothing.
  package func remove() {
    var own = stat()
    var named = stat()
    guard fstat(descriptor, &own) == 0, lstat(path, &named) == 0 else { return }
    if own.st_dev == named.st_dev, own.st_ino == named.st_ino { unlink(path) }
  }
}
