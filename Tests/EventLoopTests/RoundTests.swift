import EventLoop
import Glibc
import LoopbackPeers
import Testing

@testable import EventLoop

/// The steps of a round: read all, work on all, write all.
struct RoundTests {
  /// Notes when its work is done, and what is read of its socket in the same round.
  private final class Worker: StreamSocketDelegate, DeadlineTarget {
    let name: String
    let journal: Journal
    let turned: TurnedLoop
    var onWork: (Worker) -> Void = { _ in }
    var socket: StreamSocket?
    var deadline: Deadline?
    let working = RoundWork { Unmanaged<Worker>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.work() } }
    let writing = RoundWork { Unmanaged<Worker>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.write() } }

    init(_ name: String, _ journal: Journal, _ turned: TurnedLoop) {
      self.name = name
      self.journal = journal
      self.turned = turned
      working.bind(to: self)
      writing.bind(to: self)
    }

    deinit {
      deadline?.remove()
      socket?.close()
    }

    private func work() {
      journal.lines.append("\(name) works")
      onWork(self)
      turned.loop.afterWork(writing)
    }

    private func write() { journal.lines.append("\(name) writes") }

    func socketReadable(_ socket: StreamSocket) {
      var bytes = [UInt8](repeating: 0, count: 100)
      if case .moved = bytes.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
        journal.lines.append("\(name) reads")
        turned.loop.afterEvents(working)
      }
    }

    func socketConnected(_ socket: StreamSocket) {}
    func socketWritable(_ socket: StreamSocket) {}
    func socketFailed(_ socket: StreamSocket, _ failure: SocketFailure) {}
    func deadlinePassed(_ deadline: Deadline) { journal.lines.append("\(name) is late") }
  }

  private final class Journal { var lines: [String] = [] }

  private let turned = TurnedLoop()
  private let journal = Journal()

  private func workers(_ count: Int) -> [Worker] { (1...count).map { Worker("\($0)", journal, turned) } }

  @Test func `sockets are read before any of them is worked on, and all are worked on before any writes`() throws {
    let workers = workers(3)
    var clients: [Peer] = []
    for worker in workers {
      let (client, descriptor) = try Peer.pair()
      let socket = StreamSocket(loop: turned.loop, accepted: descriptor, delegate: worker)
      worker.socket = socket
      socket.resumeReading()
      client.send("x")
      clients.append(client)
    }
    #expect(turned.turn { journal.lines.count == 9 })
    for (step, lines) in zip(["reads", "works", "writes"], [0..<3, 3..<6, 6..<9]) {
      #expect(Set(journal.lines[lines]) == Set(workers.map { "\($0.name) \(step)" }))
    }
  }

  @Test func `work is done once, however often it is asked for, in order, and without an event to wait for`() {
    let workers = workers(3)
    for worker in workers + workers.reversed() { turned.loop.afterEvents(worker.working) }
    turned.settle(rounds: 1)
    #expect(journal.lines == ["1 works", "2 works", "3 works", "1 writes", "2 writes", "3 writes"])
    turned.settle()
    #expect(journal.lines.count == 6)
  }

  @Test func `work may ask for more, in the same round`() {
    let workers = workers(2)
    var again = 3
    workers[0].onWork = { worker in
      again -= 1
      if again > 0 { worker.turned.loop.afterEvents(worker.working) }
      worker.turned.loop.afterEvents(workers[1].working)
    }
    turned.loop.afterEvents(workers[0].working)
    turned.settle(rounds: 1)
    let works = journal.lines.filter { $0.hasSuffix("works") }
    #expect(works == ["1 works", "1 works", "2 works", "1 works", "2 works"])
    #expect(journal.lines.suffix(2) == ["1 writes", "2 writes"])
    workers[0].onWork = { _ in }
  }

  @Test func `writes do not wait for more than a bounded number of others`() {
    let workers = workers(300)
    for worker in workers { turned.loop.afterEvents(worker.working) }
    turned.settle(rounds: 1)
    #expect(journal.lines.count == 600)
    #expect(journal.lines.firstIndex(of: "1 writes") == 128)
    #expect(journal.lines.last == "300 writes")
  }

  @Test func `nobody is late whose bytes came in the round of the tick`() throws {
    let worker = Worker("1", journal, turned)
    let (client, descriptor) = try Peer.pair()
    let socket = StreamSocket(loop: turned.loop, accepted: descriptor, delegate: worker)
    worker.socket = socket
    socket.resumeReading()
    let deadline = Deadline(on: turned.loop, target: worker)
    worker.deadline = deadline
    worker.onWork = { $0.deadline?.clear() }
    deadline.set(after: 0)
    // The tick comes while nobody turns the loop, and then both are heard at once.
    let until = SystemTime.monotonicNanoseconds + 3 * DeadlineWheel.tickNanoseconds
    while SystemTime.monotonicNanoseconds < until {}
    client.send("x")
    #expect(turned.turn { journal.lines.count >= 3 })
    turned.settle()
    #expect(journal.lines == ["1 reads", "1 works", "1 writes"])
  }

  @Test func `a round's memory is handed out in pieces, up to its end, and is there again in the next`() {
    let input = RoundInput()
    var kept: [UnsafeRawBufferPointer] = []
    while let room = input.room(65_536) {
      #expect(room.count == 65_536)
      room[0] = UInt8(truncatingIfNeeded: kept.count)
      kept.append(input.keep(1_000))
    }
    #expect(kept.count == 459)  // 458 times 1,000 leave 66,288 of 524,288
    #expect(kept.enumerated().allSatisfy { $0.element[0] == UInt8(truncatingIfNeeded: $0.offset) })
    input.clear()
    #expect(input.room(65_536)?.baseAddress.map { UnsafeRawPointer($0) } == kept.first?.baseAddress)
  }
}
