import HTTPWire

/// How many body bytes one loop keeps, over all its requests: for replays, and while they wait to be passed on.
final class ReplayBudget {
  /// Below zero by what had been read already when nothing was left.
  private(set) var remainingBytes: Int
  init(bytes: Int) { remainingBytes = bytes }
  func take(_ count: Int) -> Bool {
    guard count <= remainingBytes else { return false }
    remainingBytes -= count
    return true
  }
  /// As `take`, for what must be kept in any case.
  func overdraw(_ count: Int) { remainingBytes -= count }
  func giveBack(_ count: Int) { remainingBytes += count }
}

/// The body of one request on its way upstream: kept until the response head arrives, so that the request can be
/// sent again, or passed on and gone (design §4.5).
struct RequestBody: ~Copyable {
  /// Payload bytes of one request that wait for a stream before the client is no longer read.
  static let waitingBytesMax = 65_536

  /// Payload that is kept: all of it while `isReplayable`, else what no stream has taken yet.
  private var kept = ByteBuffer()
  private var budgetTaken = 0
  /// Taken ahead for the next bytes of a body that waits.
  private var reservedBytes = 0
  private(set) var isReplayable = true
  /// Whether the client has sent all of it.
  private(set) var isComplete = true
  private var limitBytes = 0
  /// What goes behind a chunked body, as lines: kept as long as the request may be sent again, like its head.
  private var trailers = ByteBuffer()

  /// - Parameter limitBytes: what may be kept of this request.
  mutating func begin(_ framing: BodyFraming, limitBytes: Int) {
    isReplayable = true
    trailers.release()
    self.limitBytes = limitBytes
    switch framing {
    case .none, .length(0), .untilClose: isComplete = true
    case .length(let count):
      isComplete = false
      if count > UInt64(limitBytes) { isReplayable = false }
    case .chunked: isComplete = false
    }
  }

  /// Makes sure that what is read next of a body that is not passed on yet has room.
  ///
  /// - Parameter readBytes: the most that is read at once.
  /// - Returns: false when no more may be read for now.
  mutating func reserve(_ readBytes: Int, within budget: ReplayBudget) -> Bool {
    guard kept.count < Self.waitingBytesMax else { return false }
    if reservedBytes > 0 { return true }
    guard budget.take(readBytes) else { return false }
    reservedBytes = readBytes
    return true
  }

  mutating func finish() { isComplete = true }

  /// Takes in the trailer lines that pass.
  mutating func keepTrailers(_ append: (inout ByteBuffer) -> Void) { append(&trailers) }

  /// Appends the end of a chunked body.
  func appendEnd(to output: inout ByteBuffer) { Self.appendLastChunk(trailers: trailers, to: &output) }

  /// Takes in bytes from the client.
  ///
  /// - Parameter passedOn: a stream has them already, or will not need them from here.
  mutating func receive(_ bytes: UnsafeRawBufferPointer, passedOn: Bool, budget: ReplayBudget) {
    giveBackReserve(budget)
    if isReplayable {
      if kept.count + bytes.count <= limitBytes, budget.take(bytes.count) {
        budgetTaken += bytes.count
        kept.append(bytes)
        return
      }
      isReplayable = false
      if passedOn { dropKept(budget) }
    }
    guard !passedOn else { return }
    budget.overdraw(bytes.count)
    budgetTaken += bytes.count
    kept.append(bytes)
  }

  /// Everything that is kept has been handed to a stream.
  mutating func handedOver(budget: ReplayBudget) {
    giveBackReserve(budget)
    if !isReplayable { dropKept(budget) }
  }

  /// A response is being delivered: nothing will be sent again.
  mutating func settle(budget: ReplayBudget) {
    isReplayable = false
    dropKept(budget)
  }

  mutating func release(budget: ReplayBudget) {
    dropKept(budget)
    kept.release()
    trailers.release()
  }

  private mutating func dropKept(_ budget: ReplayBudget) {
    kept.release()
    budget.giveBack(budgetTaken)
    budgetTaken = 0
    giveBackReserve(budget)
  }

  private mutating func giveBackReserve(_ budget: ReplayBudget) {
    if reservedBytes > 0 { budget.giveBack(reservedBytes) }
    reservedBytes = 0
  }

  func withKept<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { kept.withUnsafeBytes(body) }

  /// Appends one payload run in the chunked coding (RFC 9112 §7.1).
  static func appendChunk(_ payload: UnsafeRawBufferPointer, to output: inout ByteBuffer) {
    guard !payload.isEmpty else { return }
    output.append(hex: UInt64(payload.count))
    output.append("\r\n")
    output.append(payload)
    output.append("\r\n")
  }

  /// Appends the last chunk, the trailer lines, and the empty line.
  static func appendLastChunk(trailers: borrowing ByteBuffer, to output: inout ByteBuffer) {
    output.append("0\r\n")
    trailers.withUnsafeBytes { output.append($0) }
    output.append("\r\n")
  }
}
