package import EventLoop

/// Where the lines of all loops meet: one thread masks what is held secret, writes the log, keeps the last lines and
/// feeds those who watch.
///
/// Nothing here makes a loop wait. When the output is slower than the requests, lines are dropped, and a record of its
/// own (`"event":"log"`) says how many. The thread runs until ``flushAndClose(timeout:)``.
package final class RecordHub: Sendable {
  /// The part of the hub that is shared with the writer thread.
  private let intake: LogIntake
  let heldSecrets: HeldSecrets
  private let thread: NamedThread
  private let requestIDs = RequestIDSource()

  /// Told once when the log can't be written to any more, on the writer thread: where it goes, and the system's error.
  package typealias Complaint = @Sendable (LogDestination, _ code: Int32) -> Void

  /// Opens the log and starts the writer.
  ///
  /// - Parameters:
  ///   - destination: where the lines go besides the ring and the subscribers.
  ///   - heldSecrets: values that no line may show.
  ///   - complain: says that the log can't be written to; by default on standard error, if that is not the log.
  /// - Throws: `TracingError` if the log can't be opened.
  package init(
    _ destination: LogDestination, heldSecrets: HeldSecrets = .process, limits: LogLimits = LogLimits(),
    time: any TimeSource = SystemTime(), complain: @escaping Complaint = LogOutput.complain
  ) throws(TracingError) {
    let output = try LogOutput(destination)
    let intake = LogIntake(output: output, limits: limits, time: time)
    self.intake = intake
    self.heldSecrets = heldSecrets
    thread = NamedThread(name: "log") {
      LogWriter(intake: intake, heldSecrets: heldSecrets, complain: complain).run()
    }
  }

  /// Whether someone watches, so that lines should be handed over at the end of the round, not 100 ms later.
  package var isWatched: Bool { intake.isWatched }

  /// Hands over whole lines. Never waits: what finds no room is dropped and counted.
  package func submit(_ batch: LineBatch) { intake.submit(batch) }

  /// Writes one record from any thread: for token-endpoint calls. Loops have a ``LoopLog``.
  package func append(_ record: borrowing RequestRecord) {
    let log = LoopLog(hub: self)
    log.append(record)
    log.flush()
  }

  /// An ID for a record that comes from no loop.
  package func nextID() -> RequestID { RequestID(value: requestIDs.block().lowerBound) }

  func requestIDBlock() -> Range<UInt64> { requestIDs.block() }

  /// Feeds the last `last` lines and then every new one to `deliver`, a batch for each ``Subscription/request()``.
  ///
  /// - Parameter deliver: is called on the writer thread and must not block: hand the lines to a loop, ask for more
  ///   when they are sent. Between two batches at most ``LogLimits/subscriberBytesMax`` wait; a notice
  ///   (`"event":"log"`) stands where lines were left out.
  package func subscribe(last: Int, deliver: @escaping @Sendable (_ lines: [UInt8]) -> Void) -> Subscription {
    intake.subscribe(last: last, deliver: deliver)
  }

  /// The last `count` lines of the ring.
  package func lastLines(_ count: Int) -> [UInt8] { intake.lastLines(count) }

  /// Records the log lacks since the start, because they came faster than they could be written, or could not be.
  package var droppedCount: Int { intake.droppedTotal }

  /// Why the log can't be written to at present, in the system's words; nil if it can.
  package var failure: String? { intake.failureCode.map { LogOutput.reason($0) } }

  /// Opens the log file again, for log rotation (SIGHUP). If that fails the old one stays in use.
  ///
  /// - Throws: `TracingError` if the file can't be opened.
  package func reopen() throws(TracingError) { try redirect(to: intake.destination) }

  /// Writes what is handed over from now on to `destination`. If that fails the old one stays in use.
  ///
  /// - Throws: `TracingError` if the file can't be opened.
  package func redirect(to destination: LogDestination) throws(TracingError) {
    intake.redirect(to: try LogOutput(destination))
  }

  /// Writes everything handed over so far and ends the writer; what comes later is dropped. Flush the loops before.
  ///
  /// - Parameter timeout: how long a blocked output is waited for.
  /// - Returns: whether everything was written.
  @discardableResult
  package func flushAndClose(timeout: Duration = .seconds(5)) -> Bool {
    intake.close(timeout: timeout)
    thread.join()
    return intake.isDrained
  }

  /// Waits until all that was handed over before is written or dropped.
  func waitUntilWritten() {
    let written = ThreadGate()
    intake.notify(written)
    written.wait()
  }
}

/// One watcher of the log. Lines come only when asked for, so that a slow reader holds up nobody and fills no memory.
package struct Subscription: Sendable {
  let id: UInt64
  let intake: LogIntake

  /// Asks for the next batch: as soon as there are lines, `deliver` is called once.
  package func request() { intake.request(id) }

  /// Ends the subscription. A delivery that has begun on the writer thread may still arrive.
  package func cancel() { intake.unsubscribe(id) }
}
