import EventLoop
import LoopbackPeers
import Testing

struct SocketAddressTests {
  @Test(arguments: [
    ("127.0.0.1", true), ("127.255.0.9", true), ("::1", true), ("::ffff:127.0.0.1", true), ("10.0.0.1", false),
    ("::", false), ("0.0.0.0", false), ("::ffff:10.0.0.1", false), ("fe80::1", false), ("::2", false),
  ])
  func `loopback is told from everything else`(host: String, expected: Bool) throws {
    #expect(try #require(SocketAddress(numericHost: host, port: 1)).isLoopback == expected)
  }

  @Test(arguments: ["", "localhost", "127.0.0.1.", "127.1", "1.2.3.4.5", "::1%lo", "[::1]", " 127.0.0.1", "0x7f000001"])
  func `what is not a numeric address is none`(host: String) {
    #expect(SocketAddress(numericHost: host, port: 1) == nil)
  }

  @Test func `an address describes itself`() throws {
    #expect(try #require(SocketAddress(numericHost: "127.0.0.1", port: 80)).description == "127.0.0.1:80")
    #expect(try #require(SocketAddress(numericHost: "0:0::1", port: 65535)).description == "[::1]:65535")
    #expect(try #require(SocketAddress(unixPath: "/run/x")).description == "unix:/run/x")
  }

  @Test func `addresses are equal when they mean the same`() throws {
    let address = try #require(SocketAddress(numericHost: "::1", port: 80))
    #expect(address == SocketAddress(numericHost: "0::1", port: 80))
    #expect(address != SocketAddress(numericHost: "::1", port: 81))
    #expect(address != SocketAddress(numericHost: "::2", port: 80))
    #expect(Set([address, address]).count == 1)
    #expect(address.port == 80)
    #expect(address.hostBytes == Array(repeating: 0, count: 15) + [1])
  }

  @Test func `a path fits or is none`() {
    let longest = "/" + String(repeating: "x", count: SocketAddress.unixPathBytesMax - 1)
    #expect(SocketAddress(unixPath: longest)?.description == "unix:\(longest)")
    #expect(SocketAddress(unixPath: longest + "x") == nil)
    #expect(SocketAddress(unixPath: "") == nil)
    #expect(SocketAddress(unixPath: "/a\0b") == nil)
    #expect(SocketAddress(unixPath: "/run/x")?.port == nil)
    #expect(SocketAddress(unixPath: "/run/x")?.isLoopback == true)
  }
}

struct TimeSourceTests {
  @Test func `a manual clock moves when it is told to`() {
    let time = ManualTime(wallSeconds: 1_000)
    let boot = time.bootNanoseconds
    time.advance(by: .milliseconds(1_500))
    #expect(time.wallNanoseconds == 1_001_500_000_000)
    #expect(time.bootNanoseconds == boot + 1_500_000_000)
    time.setWall(seconds: 10)
    #expect(time.wallNanoseconds == 10_000_000_000)
    #expect(time.bootNanoseconds == boot + 1_500_000_000)
  }

  @Test func `the system's clocks run`() {
    let time = SystemTime()
    #expect(time.wallNanoseconds > 1_700_000_000_000_000_000)
    let (boot, monotonic) = (time.bootNanoseconds, SystemTime.monotonicNanoseconds)
    #expect(time.bootNanoseconds >= boot)
    #expect(SystemTime.monotonicNanoseconds >= monotonic)
  }

  @Test(arguments: [
    (Duration.zero, Int64(0)), (.nanoseconds(-1), -1), (.seconds(3), 3_000_000_000), (.microseconds(1), 1_000),
    (.seconds(Int64.max), Int64.max), (.seconds(Int64.min), .min),
    (.seconds(9_223_372_036) + .nanoseconds(854_775_807), .max),
    (.seconds(9_223_372_036) + .nanoseconds(999_999_999), .max),
    (.seconds(-9_223_372_036) - .nanoseconds(999_999_999), .min),
  ])
  func `a duration in nanoseconds saturates`(duration: Duration, expected: Int64) {
    #expect(duration.nanoseconds == expected)
  }
}
