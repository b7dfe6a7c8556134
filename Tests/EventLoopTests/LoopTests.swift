import EventLoop
import Glibc
import LoopbackPeers
import Testing

struct LoopTests {
  /// Says when it is freed, and on which thread.
  private final class Mortal {
    private let died: () -> Void
    init(_ died: @escaping () -> Void) { self.died = died }
    deinit { died() }
  }

  private final class Resident: LoopResident {
    var endings = 0
    func loopEnds() { endings += 1 }
  }

  @Test func `work for the next round runs after what is due in this one, in order`() {
    let turned = TurnedLoop()
    var order: [Int] = []
    turned.loop.nextRound {
      order.append(1)
      turned.loop.nextRound { order.append(3) }
    }
    turned.loop.nextRound { order.append(2) }
    #expect(order.isEmpty)
    #expect(turned.turn { order.count == 3 })
    #expect(order == [1, 2, 3])
  }

  @Test func `work that always asks for another round does not keep the loop from its mail`() {
    let turned = TurnedLoop()
    var rounds = 0
    let mail = Notes<String>()
    func again() {
      rounds += 1
      if rounds == 3 { turned.loop.mailbox.post { mail.add("arrived") } }
      if mail.count == 0, rounds < 10_000 { turned.loop.nextRound { again() } }
    }
    turned.loop.nextRound { again() }
    #expect(turned.turn { mail.count == 1 })
    turned.settle()
    #expect(rounds < 10)
  }

  @Test func `what is retired lives until the round is over, and may retire others when it goes`() {
    let turned = TurnedLoop()
    var order: [String] = []
    turned.loop.nextRound {
      turned.loop.retire(
        Mortal {
          order.append("first")
          turned.loop.retire(Mortal { order.append("second") })
        })
      order.append("callback")
    }
    #expect(turned.turn { order.count == 1 || order.count == 2 })
    turned.settle()
    #expect(order == ["callback", "first", "second"])
  }

  @Test func `what is kept is told of the end and goes with the loop`() {
    let loop = EventLoop()
    let resident = Resident()
    var freed = false
    loop.keep(resident)
    loop.keep(Mortal { freed = true })
    loop.nextRound { loop.stop() }
    #expect(!freed)
    loop.run()
    #expect(freed)
    #expect(resident.endings == 1)
  }

  @Test func `letters from many threads arrive, each thread's in order`() {
    let received = Notes<(sender: Int, number: Int)>()
    let thread = LoopThread(name: "mail") { _ in }
    let senders = (0..<4).map { sender in
      NamedThread(name: "sender-\(sender)") {
        for number in 0..<1_000 { thread.mailbox.post { received.add((sender, number)) } }
      }
    }
    for sender in senders { sender.join() }
    thread.stop()
    thread.join()
    for sender in 0..<4 { #expect(received.all.filter { $0.sender == sender }.map(\.number) == Array(0..<1_000)) }
  }

  @Test func `a letter to a loop that has ended is freed unread`() {
    let thread = LoopThread(name: "ended") { _ in }
    thread.stop()
    thread.join()
    let events = Notes<String>()
    thread.mailbox.post { [trace = Trace(events)] in trace.read() }
    #expect(events.all == ["freed"])
  }

  @Test func `letters that a loop did not come to are freed when it ends`() {
    let loop = EventLoop()
    let events = Notes<String>()
    loop.stop()
    loop.mailbox.post { [trace = Trace(events)] in trace.read() }
    #expect(events.all.isEmpty)
    loop.run()
    #expect(events.all == ["freed"])
  }

  /// An object that may be sent, noted when it is freed.
  private final class Trace: Sendable {
    private let notes: Notes<String>
    init(_ notes: Notes<String>) { self.notes = notes }
    deinit { notes.add("freed") }
    func read() { notes.add("read") }
  }

  @Test func `what is bound to a loop is used and freed on its thread only`() {
    let notes = Notes<String>()
    let box = Notes<LoopBound<Thing>>()
    let thread = LoopThread(name: "home") { loop in
      let thing = Thing(loop, notes)
      loop.keep(thing)
      box.add(LoopBound(thing, on: loop))
    }
    let bound = box.all[0]
    let strangers = (0..<4).map { number in
      NamedThread(name: "stranger-\(number)") { for _ in 0..<100 { bound.post { $0.use() } } }
    }
    for stranger in strangers { stranger.join() }
    thread.stop()
    thread.join()
    bound.post { $0.use() }
    #expect(notes.all == Array(repeating: "used", count: 400) + ["freed"])
  }

  private final class Thing {
    private let loop: EventLoop
    private let notes: Notes<String>
    init(_ loop: EventLoop, _ notes: Notes<String>) {
      self.loop = loop
      self.notes = notes
    }
    deinit {
      loop.assertOnLoop()
      notes.add("freed")
    }
    func use() {
      loop.assertOnLoop()
      notes.add("used")
    }
  }

  @Test func `everybody who joins a thread waits for its end`() {
    let (gate, notes) = (ThreadGate(), Notes<String>())
    let worker = NamedThread(name: "worker") {
      gate.wait()
      notes.add("worked")
    }
    let waiters = (0..<3).map { number in
      NamedThread(name: "waiter-\(number)") {
        worker.join()
        notes.add("joined")
      }
    }
    gate.open()
    worker.join()
    for waiter in waiters { waiter.join() }
    #expect(notes.all == ["worked", "joined", "joined", "joined"])
  }

  @Test func `a thread that nobody joins gives its memory back`() throws {
    // Each would keep its stack of 8 MiB of address space.
    let before = try mappedPages()
    for _ in 0..<400 {
      let gate = ThreadGate()
      _ = NamedThread(name: "forgotten") { gate.open() }
      gate.wait()
    }
    #expect(try mappedPages() - before < 100 * 2_048)
  }

  /// The first number of /proc/self/statm: pages of address space.
  private func mappedPages() throws -> Int {
    let file = try #require(fopen("/proc/self/statm", "r"))
    defer { fclose(file) }
    var pages = 0
    var byte = fgetc(file)
    while byte >= 0x30, byte <= 0x39 {
      pages = pages * 10 + Int(byte - 0x30)
      byte = fgetc(file)
    }
    return pages
  }
}
