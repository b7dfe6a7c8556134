import EventLoop
import HTTPTransport
import HTTPWire
import LoopbackPeers
import Testing

/// The client of the control plane at a server that asks for certificates. RFC 8705 §2
struct ClientCertificateTests {
  private static let certificates = TestCertificates.shared

  /// One loop's connections, and a client for each certificate.
  private final class Loop: Sendable {
    private let thread: LoopThread
    private let connections: LoopBound<ClientConnections>

    init() throws {
      let box = Notes<LoopBound<ClientConnections>>()
      thread = LoopThread(name: "client") { loop in
        let connections = ClientConnections(
          loop: loop, scratch: LoopScratch(limits: HeadLimits()), resolver: Resolver())
        loop.keep(connections)
        box.add(LoopBound(connections, on: loop))
      }
      connections = try #require(box.all.first)
    }

    deinit {
      thread.stop()
      thread.join()
    }

    func client(_ identity: TLSIdentity?) -> HTTPClient {
      HTTPClient(
        connections: connections, tls: TLSTrust(.file(certificates.authority), identity: identity))
    }
  }

  private func body(_ client: HTTPClient, _ server: TLSAnswerer) async throws -> String {
    let url = try HTTPURL(parsing: server.url)
    let response = try await client.send(HTTPRequest(method: "GET", url: url), timeout: .seconds(60))
    return String(decoding: response.body, as: UTF8.self)
  }

  @Test func `connections with different certificates are never shared`() async throws {
    let (server, loop) = (try TLSAnswerer(), try Loop())
    let (one, other) = (loop.client(Self.certificates.client), loop.client(Self.certificates.otherClient))
    var (ofOne, ofOther) = (Set<String>(), Set<String>())
    for _ in 0..<5 {
      ofOne.insert(try await body(one, server))
      ofOther.insert(try await body(other, server))
    }
    #expect(ofOne.isDisjoint(with: ofOther))
  }

  @Test func `a client without a certificate is told that one is wanted`() async throws {
    let (server, loop) = (try TLSAnswerer(), try Loop())
    await #expect(throws: HTTPSendFailure.tls("client certificate not accepted: tlsv13 alert certificate required")) {
      try await body(loop.client(nil), server)
    }
    // And gets no connection of one that has it.
    #expect(try await body(loop.client(Self.certificates.client), server) == "2")
    await #expect(throws: HTTPSendFailure.self) { try await body(loop.client(nil), server) }
  }

  @Test func `a certificate that can't be loaded is a failure of TLS that names the file`() async throws {
    let (server, loop) = (try TLSAnswerer(), try Loop())
    let identity = TLSIdentity(
      certificateChainFile: Self.certificates.server, privateKeyFile: Self.certificates.encryptedKey)
    await #expect(
      throws: HTTPSendFailure.tls(
        "\(Self.certificates.encryptedKey): the private key is under a passphrase, and only one without can be read")
    ) { try await body(loop.client(identity), server) }
  }
}
