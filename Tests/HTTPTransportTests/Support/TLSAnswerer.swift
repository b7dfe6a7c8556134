import EventLoop
import Glibc
import LoopbackPeers
import Testing

/// An https server on threads of its own: it asks each client for a certificate and answers every request with the
/// number of its connection.
final class TLSAnswerer: Sendable {
  let url: String
  private let descriptor: Int32
  private let thread: NamedThread

  init() throws {
    let certificates = TestCertificates.shared
    let context = try TLSContext(serving: certificates.serverIdentity, clients: .file(certificates.authority))
    let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
    let group = try ListenerGroup(binding: address, count: 1)
    let descriptor = group.descriptors[0]
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) & ~O_NONBLOCK)
    self.descriptor = descriptor
    url = "https://\(group.address)/"
    thread = NamedThread(name: "tls server") {
      var number = 0
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        number += 1
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)"
        _ = NamedThread(name: "tls connection") { Self.serve(connection, context, answer) }
      }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    thread.join()
    close(descriptor)
  }

  private static func serve(_ connection: Int32, _ context: TLSContext, _ answer: String) {
    defer { close(connection) }
    let session = TLSSession(server: context)
    session.attach(connection)
    guard session.handshake() == .done else {
      // What the client has sent since must not turn the alert into a reset.
      shutdown(connection, Int32(SHUT_WR))
      var rest = [UInt8](repeating: 0, count: 4096)
      while recv(connection, &rest, rest.count, 0) > 0 {}
      return
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case .moved(let count) = buffer.withUnsafeMutableBytes({ session.read(into: $0) }) {
      guard String(decoding: buffer[..<count], as: UTF8.self).hasSuffix("\r\n\r\n") else { continue }
      _ = Array(answer.utf8).withUnsafeBytes { session.write($0) }
    }
  }
}
