import EventLoop
import Glibc

/// Answers the first connection to a UNIX socket with fixed pieces, then closes it.
final class CannedServer {
  let path: String
  private let folder = TemporaryFolder()
  private let listener: Int32
  private let thread: NamedThread

  /// - Parameter pieces: each is one write; a peer that reads slowly may still see several at once.
  init(_ pieces: [[UInt8]]) throws {
    path = folder.path + "/control.sock"
    guard let address = SocketAddress(unixPath: path) else { throw SocketError("path", code: ENAMETOOLONG) }
    let descriptor = try ListenerGroup(binding: address, count: 1).descriptors[0]
    listener = descriptor
    thread = NamedThread(name: "canned") {
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, 20_000) == 1 else { return }
      let connection = accept(descriptor, nil, nil)
      var buffer = [UInt8](repeating: 0, count: 4_096)
      _ = recv(connection, &buffer, buffer.count, 0)
      for piece in pieces { _ = send(connection, piece, piece.count, Int32(MSG_NOSIGNAL)) }
      close(connection)
    }
  }

  convenience init(_ answer: String) throws { try self.init([Array(answer.utf8)]) }

  deinit {
    thread.join()
    close(listener)
  }
}
