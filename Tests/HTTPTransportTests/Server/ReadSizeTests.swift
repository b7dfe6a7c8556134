import HTTPTransport
import HTTPWire
import Testing

struct ReadSizeTests {
  @Test(arguments: [
    (0, 65_536), (1, 65_536), (64, 65_536), (65, 64_527), (128, 32_768), (512, 8_192), (513, 8_192), (5_000, 8_192),
  ])
  func `the more uploads, the less is read of each at a time`(uploads: Int, bytes: Int) {
    let scratch = LoopScratch(limits: HeadLimits())
    scratch.uploads = 10_000
    scratch.uploads = uploads
    #expect(scratch.bodyReadBytes == bytes)
  }

  @Test func `no more than a head's read is taken in while an answer is made`() throws {
    let rig = try ServerRig()
    rig.answer = { _ in }
    #expect(rig.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
    rig.client.send(String(repeating: "x", count: 100_000))
    rig.turned.settle()
    #expect(rig.connectionUnreadBytes > 50_000)
  }

  @Test func `a connection is idle since it was opened, or since its last answer, and closes if asked`() throws {
    let rig = try ServerRig()
    let opened = try #require(rig.connection?.idleSince)
    #expect(rig.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
    let served = try #require(rig.connection?.idleSince)
    #expect(served >= opened && served < opened + 60_000_000_000)
    #expect(rig.send("GET / HT"))
    #expect(rig.connection?.idleSince == nil && rig.connection?.closeIfIdle() == false)
    #expect(rig.send("TP/1.1\r\nHost: a\r\n\r\n"))
    rig.client.send("GET")  // has arrived and was not read
    #expect(rig.connection?.closeIfIdle() == false)
    rig.turned.settle()
    rig.client.send(" / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(rig.turn { rig.heard.count { $0 == "end" } == 3 })
    #expect(rig.connection?.closeIfIdle() == true)
    #expect(rig.isClosed)
  }
}
