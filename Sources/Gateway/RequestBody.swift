import HTTPWire

/// The body of one request on its way upstream: kept until the response head arrives, so that the request can be
/// sent again, or passed on and gone (design §4.5).
struct RequestBody: ~Copyable {
  /// Payload bytes of one request that wait for a stream before the client is no longer read.
  static let waitingBytesMax = 65_536

  /// Payload that is kept: all of it while `isReplayable`, else what no stream has taken yet.
  private var kept = KeptBytes()
  private(set) var isReplayable = true
  /// Whether the client has sent all of it.
  private(set) var isComplete = true
  private var limitBytes = 0
  /// Announced by the client.
  private var lengthBytes = Int.max
  /// What goes behind a chunked body, as lines: kept as long as the request may be sent again, like its head.
  private var trailers = ByteBuffer()

  /// - Parameter limitBytes: what may be kept of this request.
  mutating func begin(_ framing: BodyFraming, limitBytes: Int) {
    isReplayable = true
    trailers.release()
    self.limitBytes = limitBytes
    lengthBytes = .max
    switch framing {
    case .none, .length(0), .untilClose: isComplete = true
    case .length(let count):
      isComplete = false
      lengthBytes = Int(clamping: count)
      if lengthBytes > limitBytes { isReplayable = false }
    case .chunked: isComplete = false
    }
  }

  /// Makes sure that what is read next of a body that is not passed on yet has room.
  ///
  /// - Parameter readBytes: the most that is read at once.
  /// - Returns: false when no more may be read for now.
  mutating func reserve(_ readBytes: Int, within budget: KeptBytesBudget) -> Bool {
    guard kept.count < Self.waitingBytesMax else { return false }
    return kept.reserve(min(readBytes, lengthBytes - kept.count), most: keptMost, within: budget)
  }

  /// What can come to be kept.
  private var keptMost: Int { isReplayable ? min(limitBytes, lengthBytes) : lengthBytes }

  mutating func finish() { isComplete = true }

  /// Takes in the trailer lines that pass.
  mutating func keepTrailers(_ append: (inout ByteBuffer) -> Void) { append(&trailers) }

  /// Appends the end of a chunked body.
  func appendEnd(to output: inout ByteBuffer) { Self.appendLastChunk(trailers: trailers, to: &output) }

  /// Takes in bytes from the client.
  ///
  /// - Parameter passedOn: a stream has them already, or will not need them from here.
  mutating func receive(_ bytes: UnsafeRawBufferPointer, passedOn: Bool, budget: KeptBytesBudget) {
    if isReplayable {
      if kept.count + bytes.count <= limitBytes, kept.append(bytes, most: keptMost, within: budget) { return }
      isReplayable = false
      if passedOn { kept.release(to: budget) }
    }
    if !passedOn { kept.appendAnyway(bytes, most: keptMost, budget: budget) }
  }

  /// Everything that is kept has been handed to a stream.
  mutating func handedOver(budget: KeptBytesBudget) {
    if isReplayable { kept.giveBackReserve(to: budget) } else { kept.release(to: budget) }
  }

  /// A response is being delivered: nothing will be sent again.
  mutating func settle(budget: KeptBytesBudget) {
    isReplayable = false
    kept.release(to: budget)
  }

  mutating func release(budget: KeptBytesBudget) {
    kept.release(to: budget)
    trailers.release()
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
