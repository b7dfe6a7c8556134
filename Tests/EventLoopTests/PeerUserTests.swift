import EventLoop
import Foundation
import Glibc
import LoopbackPeers
import Testing

struct PeerUserTests {
  /// Our end of the next connection; the test closes it.
  private final class Accepted {
    let descriptor: Int32
    init(from listener: Int32) { descriptor = accept(listener, nil, nil) }
    deinit { close(descriptor) }
  }

  private static func listener(_ address: SocketAddress) throws -> (descriptor: Int32, address: SocketAddress) {
    let group = try ListenerGroup(binding: address, count: 1)
    return (group.descriptors[0], group.address)
  }

  @Test(arguments: ["127.0.0.1", "127.7.7.7", "::1"])
  func `a TCP peer of this machine is known`(host: String) throws {
    let (listener, address) = try Self.listener(ListenerTests.loopback(host))
    defer { close(listener) }
    let peer = try Peer.connect(to: address)
    let ours = Accepted(from: listener)
    #expect(try PeerUser().uid(ofPeerOf: ours.descriptor) == PeerUser.ownUID)
    withExtendedLifetime(peer) {}
  }

  @Test func `a peer that reaches IPv4 through an IPv6 socket is known`() throws {
    let (listener, address) = try Self.listener(ListenerTests.loopback())
    defer { close(listener) }
    let mapped = try ListenerTests.loopback("::ffff:127.0.0.1", port: #require(address.port))
    let peer = try Peer.connect(to: mapped)
    let ours = Accepted(from: listener)
    #expect(try PeerUser().uid(ofPeerOf: ours.descriptor) == PeerUser.ownUID)
    withExtendedLifetime(peer) {}
  }

  @Test func `a peer that has ended its sending side is known still`() throws {
    let (listener, address) = try Self.listener(ListenerTests.loopback())
    defer { close(listener) }
    let peer = try Peer.connect(to: address)
    let ours = Accepted(from: listener)
    peer.finishSending()
    #expect(try PeerUser().uid(ofPeerOf: ours.descriptor) == PeerUser.ownUID)
  }

  @Test(arguments: [false, true])
  func `a peer that has closed is nobody, not root`(abortively: Bool) throws {
    let (listener, address) = try Self.listener(ListenerTests.loopback())
    defer { close(listener) }
    let peer = try Peer.connect(to: address)
    let ours = Accepted(from: listener)
    if abortively { peer.reset() } else { peer.close() }
    let users = try PeerUser()
    #expect(eventually { users.uid(ofPeerOf: ours.descriptor) == nil })
    shutdown(ours.descriptor, Int32(SHUT_WR))  // TIME_WAIT on the peer's side
    #expect(users.uid(ofPeerOf: ours.descriptor) == nil)
  }

  @Test(arguments: ["127.0.0.1", "0.0.0.0"])
  func `who listens on the port a peer came from is not the peer`(host: String) throws {
    let (listener, address) = try Self.listener(ListenerTests.loopback())
    defer { close(listener) }
    var bystander: Int32?
    var ours: Accepted?
    for _ in 0..<50 where bystander == nil {
      let peer = try Peer.connect(to: address)
      ours = Accepted(from: listener)
      let source = try #require(SocketAddress.local(of: peer.descriptor)?.port)
      peer.reset()
      // As a container, or another machine, would choose the port of some server of ours to come from. Another test
      // may get the port first.
      bystander = try? Self.listener(ListenerTests.loopback(host, port: source)).descriptor
    }
    defer { bystander.map { _ = close($0) } }
    #expect(bystander != nil)
    let (users, descriptor) = (try PeerUser(), try #require(ours).descriptor)
    #expect(eventually { users.uid(ofPeerOf: descriptor) == nil })
  }

  @Test func `a peer on a UNIX-domain socket is known, also after it closed`() throws {
    let folder = TemporaryFolder()
    let (listener, address) = try Self.listener(try #require(SocketAddress(unixPath: folder.file("socket"))))
    defer { close(listener) }
    let peer = try Peer.connect(to: address)
    let ours = Accepted(from: listener)
    #expect(try PeerUser().uid(ofPeerOf: ours.descriptor) == PeerUser.ownUID)
    peer.close()
    #expect(try PeerUser().uid(ofPeerOf: ours.descriptor) == PeerUser.ownUID)
  }

  @Test func `what is no connection has no peer`() throws {
    let (listener, _) = try Self.listener(ListenerTests.loopback())
    defer { close(listener) }
    let users = try PeerUser()
    #expect(users.uid(ofPeerOf: listener) == nil)
    #expect(users.uid(ofPeerOf: -1) == nil)
  }

  @Test func `one object answers for many connections`() throws {
    let (listener, address) = try Self.listener(ListenerTests.loopback())
    defer { close(listener) }
    let users = try PeerUser()
    for _ in 0..<200 {
      let peer = try Peer.connect(to: address)
      let ours = Accepted(from: listener)
      #expect(users.uid(ofPeerOf: ours.descriptor) == PeerUser.ownUID)
      peer.close()
      #expect(eventually { users.uid(ofPeerOf: ours.descriptor) == nil })
    }
  }

  /// A process of another user that connects and stays until its input ends. Only root can start one.
  private static let canBecomeAnother =
    geteuid() == 0
    && ["/usr/bin/setpriv", "/usr/bin/python3"].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
  private static let connectAndStay = """
    import socket, sys
    where = sys.argv[1]
    family = socket.AF_UNIX if where[0] == "/" else socket.AF_INET6 if ":" in where else socket.AF_INET
    peer = socket.socket(family)
    peer.connect(where if where[0] == "/" else (where, int(sys.argv[2])))
    sys.stdin.read()
    """

  @Test(.enabled(if: canBecomeAnother, "runs as root, with setpriv and python3"), arguments: ["127.0.0.1", "::1", "/"])
  func `another user is told apart`(host: String) throws {
    let folder = TemporaryFolder()
    chmod(folder.path, 0o755)
    let wanted =
      try host == "/"
      ? try #require(SocketAddress(unixPath: folder.file("socket"))) : ListenerTests.loopback(host)
    let (listener, address) = try Self.listener(wanted)
    defer { close(listener) }
    if host == "/" { chmod(folder.file("socket"), 0o666) }
    // accept() must wait for the other process.
    _ = fcntl(listener, F_SETFL, fcntl(listener, F_GETFL, 0) & ~O_NONBLOCK)
    let stranger = Process()
    stranger.executableURL = URL(filePath: "/usr/bin/setpriv")
    stranger.arguments = [
      "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", Self.connectAndStay,
      host == "/" ? folder.file("socket") : host, "\(address.port ?? 0)",
    ]
    let stay = Pipe()
    stranger.standardInput = stay
    try stranger.run()
    let ours = Accepted(from: listener)
    #expect(try PeerUser().uid(ofPeerOf: ours.descriptor) == 65534)
    try stay.fileHandleForWriting.close()
    stranger.waitUntilExit()
  }
}
