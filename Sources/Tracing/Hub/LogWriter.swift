import EventLoop
import Glibc

/// The body of the writer thread.
final class LogWriter {
  /// Writes to an output before the intake is looked at again, so that a fast stream of lines keeps flowing to all.
  private static let writesPerRoundMax = 64

  private let intake: LogIntake
  private let masker: HeldSecretMasker
  private var backlog: OutputBacklog
  private let complain: RecordHub.Complaint

  init(intake: LogIntake, heldSecrets: HeldSecrets, complain: @escaping RecordHub.Complaint) {
    self.intake = intake
    self.complain = complain
    masker = HeldSecretMasker(heldSecrets)
    backlog = OutputBacklog(bytesMax: intake.limits.backlogBytesMax - intake.limits.liveBytesMax)
  }

  /// Runs until the hub is closed and its lines are written, or the time for that is over.
  func run() {
    blockSignals()
    var gates: [ThreadGate] = []
    while true {
      let work = intake.take(outgoingBytes: backlog.byteCount, droppedTotal: backlog.droppedTotal)
      for batch in work.batches {
        let masked = masker.masked(batch)
        intake.distribute(masked)
        backlog.append(masked, wallNanoseconds: intake.wallNanoseconds)
      }
      intake.deliver()
      write(to: work.output)
      gates += work.gates
      if backlog.isEmpty {
        gates.forEach { $0.open() }
        gates = []
      }
      if let deadline = work.closingDeadlineNanoseconds {
        let isOver = SystemTime.monotonicNanoseconds >= deadline
        if backlog.isEmpty || isOver { break }
      }
      wait(for: work)
    }
    intake.finish(drained: backlog.isEmpty && backlog.droppedCount == 0, droppedTotal: backlog.droppedTotal)
    gates.forEach { $0.open() }
  }

  private func write(to output: LogOutput) {
    let failedBefore = backlog.failureCode != nil
    backlog.write(to: output, writesMax: Self.writesPerRoundMax, wallNanoseconds: intake.wallNanoseconds)
    intake.note(droppedTotal: backlog.droppedTotal, failureCode: backlog.failureCode)
    if let code = backlog.failureCode, !failedBefore { complain(output.destination, code) }
  }

  /// Sleeps until there is something to take, the output takes more, or the time to close is over.
  private func wait(for work: LogIntake.Work) {
    var requests = [
      pollfd(fd: intake.wakeDescriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: work.output.descriptor, events: Int16(POLLOUT), revents: 0),
    ]
    var milliseconds: Int32 = -1
    if let deadline = work.closingDeadlineNanoseconds {
      let now = SystemTime.monotonicNanoseconds
      milliseconds = deadline > now ? Int32(clamping: (deadline - now) / 1_000_000 + 1) : 0
    }
    if backlog.isEmpty {
      requests.removeLast()
    } else if work.output.isAlwaysReady {
      milliseconds = 0
    }
    _ = poll(&requests, nfds_t(requests.count), milliseconds)
  }

  /// Signals are for the main thread; SIGPIPE is for nobody, the write says EPIPE.
  private func blockSignals() {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
  }
}
