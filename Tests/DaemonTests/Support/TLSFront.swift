import EventLoop
import Glibc
import LoopbackPeers
import Locking
import Testing

/// TLS in front of a simulator: whoever shows no certificate of the authority's gets no connection. RFC 8705 §2
final class TLSFront: Sendable {
  let port: UInt16
  private let descriptor: Int32
  private let thread: NamedThread
  private let facts = Facts()

  private final class Facts: Sendable {
    let backPort = Protected<UInt16>(0)
    let clientCount = Protected(0)
  }

  init() throws {
    let certificates = TestCertificates.shared
    let context = try TLSContext(serving: certificates.serverIdentity, clients: .file(certificates.authority))
    let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
    let group = try ListenerGroup(binding: address, count: 1)
    let descriptor = group.descriptors[0]
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) & ~O_NONBLOCK)
    self.descriptor = descriptor
    port = try #require(group.address.port)
    let facts = facts
    thread = NamedThread(name: "tls front") {
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return }
        _ = NamedThread(name: "tls connection") {
          Self.serve(connection, context, facts)
        }
      }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    thread.join()
    close(descriptor)
  }

  var url: String { "https://127.0.0.1:\(port)" }
  /// How many clients showed their certificate.
  var clientCount: Int { facts.clientCount.withLock { $0 } }

  func stand(before port: UInt16) { facts.backPort.withLock { $0 = port } }

  /// Carries bytes both ways until either side ends.
  private static func serve(_ connection: Int32, _ context: TLSContext, _ facts: Facts) {
    defer { close(connection) }
    let session = TLSSession(server: context)
    session.attach(connection)
    guard session.handshake() == .done else { return }
    facts.clientCount.withLock { $0 += 1 }
    do {
      let back = try ClientSocket(port: facts.backPort.withLock { $0 })
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
      defer { buffer.deallocate() }
      while true {
        var sides = [connection, back.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if !session.holdsInput { _ = poll(&sides, 2, -1) }
        if session.holdsInput || sides[0].revents != 0 {
          guard case .moved(let count) = session.read(into: buffer) else { return }
          try back.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        } else {
          let count = try back.read(into: buffer)
          guard count > 0 else { return }
          _ = session.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
      }
    } catch {}  // a side that is gone ends the other
  }
}
