import EventLoop
import Glibc
import LoopbackPeers
import Testing

struct ListenerTests {
  static func loopback(_ host: String = "127.0.0.1", port: UInt16 = 0) throws -> SocketAddress {
    try #require(SocketAddress(numericHost: host, port: port))
  }

  /// An acceptor that keeps what it took until the test is over.
  private final class Taker {
    var taken: [Int32] = []
    var failures: [SocketError] = []
    var acceptor: Acceptor?
    var pauseAfter = Int.max

    init(_ loop: EventLoop, _ descriptor: Int32) {
      acceptor = Acceptor(
        loop: loop, descriptor: descriptor,
        accepted: { [unowned self] descriptor, _ in
          taken.append(descriptor)
          if taken.count == pauseAfter { acceptor?.pause() }
        },
        failed: { [unowned self] in failures.append($0) })
    }

    deinit { for descriptor in taken { close(descriptor) } }
  }

  @Test(arguments: ["127.0.0.1", "::1"])
  func `port 0 is a free port, which all sockets of the group share`(host: String) throws {
    let group = try ListenerGroup(binding: Self.loopback(host), count: 3)
    defer { for descriptor in group.descriptors { close(descriptor) } }
    #expect(group.address.port ?? 0 > 0)
    #expect(group.descriptors.compactMap(SocketAddress.local(of:)) == Array(repeating: group.address, count: 3))
  }

  @Test func `connections spread over the loops of a group, the first included`() throws {
    let turned = TurnedLoop()
    let group = try ListenerGroup(binding: Self.loopback(), count: 3)
    let takers = group.descriptors.map { Taker(turned.loop, $0) }
    let peers = try (0..<90).map { _ in try Peer.connect(to: group.address) }
    #expect(turned.turn { takers.map(\.taken.count).reduce(0, +) == 90 })
    // The kernel hashes; each has thirty on average.
    for taker in takers { #expect(taker.taken.count > 5) }
    withExtendedLifetime(peers) {}
  }

  @Test func `an instance that still listens is detected, not shared with`() throws {
    let group = try ListenerGroup(binding: Self.loopback(), count: 2)
    let second = #expect(throws: SocketError.self) { try ListenerGroup(binding: group.address, count: 2) }
    #expect(second?.isAddressInUse == true)
    for descriptor in group.descriptors { close(descriptor) }
    var third: ListenerGroup?
    #expect(
      eventually {
        third = try? ListenerGroup(binding: group.address, count: 2)
        return third != nil
      })
    for descriptor in third?.descriptors ?? [] { close(descriptor) }
  }

  @Test func `a port is free again at once although a connection on it lingers`() throws {
    let turned = TurnedLoop()
    let group = try ListenerGroup(binding: Self.loopback(), count: 1)
    var taker: Taker? = Taker(turned.loop, group.descriptors[0])
    let peer = try Peer.connect(to: group.address)
    #expect(turned.turn { taker?.taken.count == 1 })
    taker = nil  // our side closes first and waits in TIME_WAIT
    #expect(eventually { peer.isOver })
    peer.close()
    var again: ListenerGroup?
    #expect(
      eventually {
        again = try? ListenerGroup(binding: group.address, count: 1)
        return again != nil
      })
    for descriptor in again?.descriptors ?? [] { close(descriptor) }
  }

  @Test func `an IPv6 listener takes no IPv4 connections`() throws {
    let six = try ListenerGroup(binding: Self.loopback("::"), count: 1)
    defer { for descriptor in six.descriptors { close(descriptor) } }
    let four = try ListenerGroup(binding: Self.loopback(port: #require(six.address.port)), count: 1)
    for descriptor in four.descriptors { close(descriptor) }
  }

  @Test func `the loops share the queue of a UNIX-domain socket`() throws {
    let turned = TurnedLoop()
    let folder = TemporaryFolder()
    let address = try #require(SocketAddress(unixPath: folder.file("socket")))
    #expect(!address.isAccepting)
    let group = try ListenerGroup(binding: address, count: 2)
    #expect(group.address == address)
    #expect(Set(group.descriptors).count == 2)
    let takers = group.descriptors.map { Taker(turned.loop, $0) }
    let peers = try (0..<10).map { _ in try Peer.connect(to: address) }
    #expect(turned.turn { takers.map(\.taken.count).reduce(0, +) == 10 })
    withExtendedLifetime(peers) {}
  }

  @Test func `a UNIX-domain socket that a crash left is told from one whose queue is full`() throws {
    let folder = TemporaryFolder()
    let address = try #require(SocketAddress(unixPath: folder.file("socket")))
    let group = try ListenerGroup(binding: address, count: 1, backlog: 1)
    var peers: [Peer] = []
    for _ in 0..<2 { peers.append(try Peer.connect(to: address)) }
    #expect(address.isAccepting)
    let second = #expect(throws: SocketError.self) { try ListenerGroup(binding: address, count: 1) }
    #expect(second?.isAddressInUse == true)
    for descriptor in group.descriptors { close(descriptor) }
    #expect(eventually { !address.isAccepting })
  }

  @Test func `an address of another machine, and a privileged path, are errors that say so`() throws {
    let elsewhere = try Self.loopback("192.0.2.77")
    let foreign = #expect(throws: SocketError.self) { try ListenerGroup(binding: elsewhere, count: 1) }
    #expect(foreign?.description == "bind: Cannot assign requested address")
    let nowhere = try #require(SocketAddress(unixPath: "/nonexistent/socket"))
    let missing = #expect(throws: SocketError.self) { try ListenerGroup(binding: nowhere, count: 1) }
    #expect(missing?.description == "bind: No such file or directory")
  }

  @Test func `a paused acceptor leaves connections in the queue, also within a burst`() throws {
    let turned = TurnedLoop()
    let group = try ListenerGroup(binding: Self.loopback(), count: 1)
    let taker = Taker(turned.loop, group.descriptors[0])
    taker.pauseAfter = 3
    let peers = try (0..<10).map { _ in try Peer.connect(to: group.address) }
    #expect(turned.turn { !taker.taken.isEmpty })
    turned.settle()
    #expect(taker.taken.count == 3)
    taker.acceptor?.resume()
    #expect(turned.turn { taker.taken.count == 10 })
    withExtendedLifetime(peers) {}
  }

  @Test func `no more connections are taken than there are places, and a place for none is given back`() throws {
    let turned = TurnedLoop()
    let group = try ListenerGroup(binding: Self.loopback(), count: 1)
    var places = 2
    var taken: [Int32] = []
    var acceptor: Acceptor?
    acceptor = Acceptor(
      loop: turned.loop, descriptor: group.descriptors[0],
      mayTake: {
        guard places > 0 else {
          acceptor?.pause()
          return false
        }
        places -= 1
        return true
      }, tookNone: { places += 1 }, accepted: { descriptor, _ in taken.append(descriptor) }, failed: { _ in })
    let peers = try (0..<3).map { _ in try Peer.connect(to: group.address) }
    #expect(turned.turn { taken.count == 2 })
    turned.settle()
    #expect(taken.count == 2 && places == 0)
    places = 2
    acceptor?.resume()
    #expect(turned.turn { taken.count == 3 })
    #expect(places == 1)
    acceptor = nil
    for descriptor in taken { close(descriptor) }
    withExtendedLifetime(peers) {}
  }

  @Test func `an acceptor that is let go by what it accepted ends with the burst`() throws {
    let turned = TurnedLoop()
    let group = try ListenerGroup(binding: Self.loopback(), count: 1)
    var taken: [Int32] = []
    var acceptor: Acceptor?
    acceptor = Acceptor(
      loop: turned.loop, descriptor: group.descriptors[0],
      accepted: { descriptor, _ in
        taken.append(descriptor)
        acceptor = nil
      }, failed: { _ in })
    let peers = try (0..<5).map { _ in try Peer.connect(to: group.address) }
    #expect(turned.turn { acceptor == nil })
    turned.settle()
    #expect(eventually { (try? Peer.connect(to: group.address)) == nil })
    for descriptor in taken { close(descriptor) }
    withExtendedLifetime(peers) {}
  }

  @Test func `an error that is not one connection's own pauses accepting until it is resumed`() throws {
    let turned = TurnedLoop()
    // Bound and not listening yet: accepting fails, as it would without descriptors, but for this test alone.
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    #expect(try Self.loopback().withSockaddr { bind(descriptor, $0, $1) } == 0)
    let taker = Taker(turned.loop, descriptor)
    #expect(turned.turn { !taker.failures.isEmpty })
    turned.settle()
    #expect(taker.failures == [SocketError("accept", code: EINVAL)])
    listen(descriptor, 8)
    let peer = try Peer.connect(to: try #require(SocketAddress.local(of: descriptor)))
    turned.settle()
    #expect(taker.taken.isEmpty)
    taker.acceptor?.resume()
    #expect(turned.turn { taker.taken.count == 1 })
    withExtendedLifetime(peer) {}
  }

  @Test(arguments: [(EMFILE, true), (ENFILE, true), (EADDRINUSE, false)])
  func `an error says whether descriptors are out`(code: Int32, expected: Bool) {
    #expect(SocketError("accept", code: code).isOutOfDescriptors == expected)
  }
}

extension SocketAddress {
  /// Lends the address to a system call.
  fileprivate func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withRawAddress { body($0.assumingMemoryBound(to: sockaddr.self), socklen_t($1)) }
  }
}
