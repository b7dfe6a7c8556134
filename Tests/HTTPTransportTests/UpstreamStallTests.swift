import EventLoop
import Glibc
import HTTPWire
import Testing

@testable import HTTPTransport

/// An upstream that takes no more of a request must not hold it for ever.
struct UpstreamStallTests {
  private final class Sender: UpstreamStreamDelegate {
    private let endpoint: UpstreamEndpoint
    private var stream: (any UpstreamStream)?
    private let outcome: @Sendable (UpstreamFailure?) -> Void

    init(_ endpoint: UpstreamEndpoint, outcome: @escaping @Sendable (UpstreamFailure?) -> Void) {
      self.endpoint = endpoint
      self.outcome = outcome
    }

    func start() {
      let stream = endpoint.openStream(fresh: true, canResend: false, delegate: self)
      self.stream = stream
      if stream.isReady { streamReady(stream) }
    }

    func streamReady(_ stream: any UpstreamStream) {
      let body = [UInt8](repeating: 0x78, count: 32 << 20)
      body.withUnsafeBytes {
        stream.send(methodIsHEAD: false, body: $0) { $0.append("POST / HTTP/1.1\r\nContent-Length: 33554432\r\n\r\n") }
      }
      stream.finishSending()
    }

    func stream(_ stream: any UpstreamStream, receivedInformational status: UInt16) {}
    func stream(
      _ stream: any UpstreamStream, received head: ResponseHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable
    ) {}
    func stream(_ stream: any UpstreamStream, receivedBody bytes: UnsafeRawBufferPointer) {}
    func stream(_ stream: any UpstreamStream, receivedTrailers bytes: UnsafeRawBufferPointer, fields: FieldTable) {}
    func streamDrained(_ stream: any UpstreamStream) {}
    func streamReceivedEnd(_ stream: any UpstreamStream) { outcome(nil) }
    func streamFailed(_ stream: any UpstreamStream, _ failure: UpstreamFailure) { outcome(failure) }
  }

  @Test func `an upstream that never reads fails the request after the send limit`() async throws {
    let listener = try ListenerGroup(
      binding: try #require(SocketAddress(numericHost: "127.0.0.1", port: 0)), count: 1)
    let port = try #require(listener.address.port)
    let origin = try Origin(parsing: "http://127.0.0.1:\(port)")
    let (outcomes, outcome) = AsyncStream.makeStream(of: UpstreamFailure?.self)
    let thread = LoopThread(name: "stall") { loop in
      // Connections wait in the listener's queue: established, and read by nobody.
      var limits = UpstreamLimits()
      limits.sendNanoseconds = 200_000_000
      limits.responseHeadNanoseconds = 60_000_000_000
      let endpoint = UpstreamEndpoint(
        loop: loop, address: .origin(origin), tls: nil, serverName: nil, scratch: LoopScratch(limits: HeadLimits()),
        resolver: Resolver(), limits: limits)
      let sender = Sender(endpoint) { outcome.yield($0) }
      loop.keep(endpoint)
      loop.keep(sender)
      sender.start()
    }
    var iterator = outcomes.makeAsyncIterator()
    #expect(await iterator.next() == .some(.responseTimeout))
    thread.stop()
    thread.join()
    for descriptor in listener.descriptors { close(descriptor) }
  }
}
