import EventLoop
import Glibc

/// Answers the first connection to a UNIX socket with fixed pieces, then closes it.
final class CannedServer {
  let path: String
  private let folder = TemporaryFolder()
  private let listener: Int32
  private let thread: NamedThread

  /// - Parameters:
  ///   - pieces: each is one write; a peer that reads slowly may still see several at once.
  ///   - beforeClosing: waited for behind the pieces; then comes `last`.
  init(_ pieces: [[UInt8]], beforeClosing: ThreadGate? = nil, last: [UInt8] = []) throws {
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
      beforeClosing?.wait()
      _ = send(connection, last, last.count, Int32(MSG_NOSIGNAL))
      close(connection)
    }
  }

  convenience init(_ answer: String) throws { try self.init([Array(answer.utf8)]) }

  deinit {
    thread.join()
    close(listener)
  }
}

/// A socket that connections come to and nobody takes.
final class SilentListener {
  let path: String
  private let folder = TemporaryFolder()
  private let listener: Int32
  private let address: SocketAddress
  private var clients: [Int32] = []

  init() throws {
    path = folder.path + "/control.sock"
    guard let address = SocketAddress(unixPath: path) else { throw SocketError("path", code: ENAMETOOLONG) }
    self.address = address
    listener = try ListenerGroup(binding: address, count: 1, backlog: 1).descriptors[0]
  }

  /// Connects until the queue takes no more.
  func fill() {
    while true {
      let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      let client = socket(AF_UNIX, kind, 0)
      clients.append(client)
      let result = address.withRawAddress {
        connect(client, $0.assumingMemoryBound(to: sockaddr.self), socklen_t($1))
      }
      if result != 0 { return }
    }
  }

  deinit {
    for client in clients { close(client) }
    close(listener)
  }
}
