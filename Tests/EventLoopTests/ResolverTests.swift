import EventLoop
import LoopbackPeers
import Testing

struct ResolverTests {
  private func resolve(_ host: String, port: UInt16 = 80) -> Result<[String], Resolver.Failure>? {
    let turned = TurnedLoop()
    let answers = Notes<Result<[SocketAddress], Resolver.Failure>>()
    Resolver().resolve(host: host, port: port, on: turned.loop.mailbox) { answers.add($0) }
    guard turned.turn(until: { answers.count > 0 }) else { return nil }
    return answers.all[0].map { $0.map(\.description) }
  }

  @Test(arguments: [("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80"), ("192.0.2.1", "192.0.2.1:80")])
  func `a numeric name is its own address`(host: String, expected: String) {
    #expect(resolve(host) == .success([expected]))
  }

  @Test(arguments: ["localhost", "LOCALHOST", "api.localhost", "a.b.localhost"])
  func `localhost and what is below it is this machine, by both families`(host: String) {
    #expect(resolve(host, port: 8080) == .success(["[::1]:8080", "127.0.0.1:8080"]))
  }

  @Test func `a name that cannot exist fails in getaddrinfo's words`() {
    guard case .failure(.notFound(let reason)) = resolve("no-such-name.invalid") else {
      Issue.record("RFC 6761 §6.4 says it does not exist")
      return
    }
    #expect(reason.contains("ame"))  // "Name or service not known", "Temporary failure in name resolution"
  }

  @Test func `more names than may wait are refused, the others answered`() {
    let turned = TurnedLoop()
    let (answered, refused) = (Notes<Int>(), Notes<Int>())
    let resolver = Resolver()
    let count = Resolver.queuedMax * 4
    for number in 0..<count {
      resolver.resolve(host: "127.0.0.1", port: 1, on: turned.loop.mailbox) { result in
        switch result {
        case .success: answered.add(number)
        case .failure(.overloaded): refused.add(number)
        case .failure(.notFound): break
        }
      }
    }
    #expect(turned.turn { answered.count + refused.count == count })
    #expect(answered.count >= Resolver.queuedMax)
  }

  @Test func `names that wait when the resolver goes are answered`() {
    let turned = TurnedLoop()
    let answers = Notes<Bool>()
    var resolver: Resolver? = Resolver()
    for _ in 0..<50 {
      resolver?.resolve(host: "::1", port: 1, on: turned.loop.mailbox) { _ in answers.add(true) }
    }
    resolver = nil
    #expect(turned.turn { answers.count == 50 })
  }
}
