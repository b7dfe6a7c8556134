import EventLoop
import Glibc
import Locking
import Synchronization

/// The state that loops, subscribers and the writer thread share, behind one lock that is only ever held briefly.
final class LogIntake: Sendable {
  typealias Deliver = @Sendable (_ lines: [UInt8]) -> Void

  /// What the writer thread is to do next.
  struct Work {
    var batches: [LineBatch] = []
    var output: LogOutput
    var gates: [ThreadGate] = []
    /// Set once the hub is closing: until when the output is waited for.
    var closingDeadlineNanoseconds: UInt64?
  }

  private struct Subscriber {
    let deliver: Deliver
    var queue: SubscriberQueue
    var isReady = false
  }

  private struct State {
    var incoming: [LineBatch] = []
    var incomingBytes = 0
    /// What the writer thread holds, as it last said.
    var outgoingBytes = 0
    var droppedCount = 0
    /// All that were dropped here since the start, and by the writer, as it last said.
    var droppedTotal = 0
    var droppedByWriter = 0
    /// Why the output can't be written to, as the writer last said.
    var failureCode: Int32?
    var ring: LineRing
    var subscribers: [UInt64: Subscriber] = [:]
    var nextSubscriberID: UInt64 = 0
    var output: LogOutput
    var gates: [ThreadGate] = []
    var isWakeUnderWay = false
    var closingDeadlineNanoseconds: UInt64?
    var isDrained = false
  }

  let limits: LogLimits
  private let time: any TimeSource
  private let state: Protected<State>
  private let watched = Atomic(false)
  /// A byte in it means: look at the state. A pipe, because the writer polls it beside its output.
  private let wake: WakePipe

  init(output: LogOutput, limits: LogLimits, time: any TimeSource) {
    self.limits = limits
    self.time = time
    wake = WakePipe()
    let ring = LineRing(linesMax: limits.ringLinesMax, bytesMax: limits.ringBytesMax)
    state = Protected(State(ring: ring, output: output))
  }

  var isWatched: Bool { watched.load(ordering: .relaxed) }
  var isDrained: Bool { state.withLock { $0.isDrained } }
  var failureCode: Int32? { state.withLock { $0.failureCode } }
  var droppedTotal: Int { state.withLock { $0.droppedTotal + $0.droppedByWriter } }
  var destination: LogDestination { state.withLock { $0.output.destination } }
  var wakeDescriptor: Int32 { wake.reader }
  var wallNanoseconds: Int64 { time.wallNanoseconds }

  func submit(_ batch: LineBatch) {
    change { state in
      let total = state.incomingBytes + state.outgoingBytes + batch.bytes.count
      let hasRoom = total <= limits.backlogBytesMax || state.incomingBytes + batch.bytes.count <= limits.liveBytesMax
      guard hasRoom, state.closingDeadlineNanoseconds == nil else {
        state.droppedCount += batch.recordCount
        state.droppedTotal += batch.recordCount
        return
      }
      noteDropped(&state)
      state.incoming.append(batch)
      state.incomingBytes += batch.bytes.count
    }
  }

  func subscribe(last: Int, deliver: @escaping Deliver) -> Subscription {
    state.withLock { state in
      let queue = SubscriberQueue(bytesMax: limits.subscriberBytesMax, history: state.ring.last(last))
      let id = state.nextSubscriberID
      state.nextSubscriberID += 1
      state.subscribers[id] = Subscriber(deliver: deliver, queue: queue)
      watched.store(true, ordering: .relaxed)
      return Subscription(id: id, intake: self)
    }
  }

  func request(_ id: UInt64) { change { $0.subscribers[id]?.isReady = true } }

  func unsubscribe(_ id: UInt64) {
    // Freed behind the lock: what the subscriber kept may call back here when it goes.
    _ = state.withLock { state in
      defer { watched.store(!state.subscribers.isEmpty, ordering: .relaxed) }
      return state.subscribers.removeValue(forKey: id)
    }
  }

  func lastLines(_ count: Int) -> [UInt8] { state.withLock { $0.ring.last(count) } }

  func redirect(to output: LogOutput) { change { $0.output = output } }

  /// Opens `gate` when all that was handed over before is written or dropped, or at once after the end.
  func notify(_ gate: ThreadGate) { change { $0.gates.append(gate) } }

  func close(timeout: Duration) {
    let nanoseconds = UInt64(clamping: max(0, timeout.nanoseconds))
    let deadline = SystemTime.monotonicNanoseconds.addingReportingOverflow(nanoseconds)
    change { state in
      guard state.closingDeadlineNanoseconds == nil else { return }
      state.closingDeadlineNanoseconds = deadline.overflow ? .max : deadline.partialValue
    }
  }

  // MARK: The writer thread

  /// Takes what has come since the last call.
  ///
  /// - Parameters:
  ///   - outgoingBytes: what the writer still holds.
  ///   - droppedTotal: records it has dropped since the start.
  func take(outgoingBytes: Int, droppedTotal: Int) -> Work {
    state.withLock { state in
      wake.drain()
      state.isWakeUnderWay = false
      state.outgoingBytes = outgoingBytes + state.incomingBytes
      state.droppedByWriter = droppedTotal
      noteDropped(&state)
      defer {
        state.incoming = []
        state.incomingBytes = 0
        state.gates = []
      }
      return Work(
        batches: state.incoming, output: state.output, gates: state.gates,
        closingDeadlineNanoseconds: state.closingDeadlineNanoseconds)
    }
  }

  /// Takes note of how writing goes.
  func note(droppedTotal: Int, failureCode: Int32?) {
    state.withLock { state in
      state.droppedByWriter = droppedTotal
      state.failureCode = failureCode
    }
  }

  /// Puts a finished batch into the ring and before the subscribers.
  func distribute(_ batch: LineBatch) {
    state.withLock { state in
      state.ring.append(batch)
      for id in state.subscribers.keys {
        state.subscribers[id]?.queue.append(batch, wallNanoseconds: time.wallNanoseconds)
      }
    }
  }

  /// Serves each subscriber that has asked, outside the lock, so that it may call back.
  func deliver() {
    guard isWatched else { return }
    let deliveries = state.withLock { state in
      var deliveries: [(deliver: Deliver, lines: [UInt8])] = []
      for (id, var subscriber) in state.subscribers where subscriber.isReady && !subscriber.queue.isEmpty {
        subscriber.isReady = false
        let lines = subscriber.queue.take(
          upTo: limits.deliveryBytesMax, wallNanoseconds: time.wallNanoseconds)
        state.subscribers[id] = subscriber
        deliveries.append((subscriber.deliver, lines))
      }
      return deliveries
    }
    for delivery in deliveries { delivery.deliver(delivery.lines) }
  }

  /// Nothing is delivered any more, and who still watches is let go.
  func finish(drained: Bool, droppedTotal: Int) {
    _ = state.withLock { state in
      state.isDrained = drained && state.droppedCount == 0
      state.droppedByWriter = droppedTotal
      watched.store(false, ordering: .relaxed)
      defer { state.subscribers = [:] }
      return state.subscribers
    }
  }

  // MARK: Helpers

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      guard !state.isWakeUnderWay else { return }
      state.isWakeUnderWay = true
      wake.send()
    }
  }

  private func noteDropped(_ state: inout State) {
    guard state.droppedCount > 0 else { return }
    let notice = LineBatch(dropped: state.droppedCount, wallNanoseconds: time.wallNanoseconds)
    state.droppedCount = 0
    state.incoming.append(notice)
    state.incomingBytes += notice.bytes.count
  }
}

/// A pipe that carries nothing but "look".
private struct WakePipe: ~Copyable {
  let reader: Int32
  private let writer: Int32

  init() {
    var ends: [Int32] = [0, 0]
    // Made when the process starts, before there is a child that could inherit it between the calls.
    precondition(pipe(&ends) == 0, "pipe: no descriptor left")
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (reader, writer) = (ends[0], ends[1])
  }

  deinit {
    close(reader)
    close(writer)
  }

  func send() {
    var byte: UInt8 = 1
    // At most one byte is under way, so it always finds room.
    _ = write(writer, &byte, 1)
  }

  func drain() {
    var bytes: (UInt64, UInt64) = (0, 0)
    _ = read(reader, &bytes, MemoryLayout.size(ofValue: bytes))
  }
}
