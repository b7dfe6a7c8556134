package import HTTPWire

/// Takes one message body apart according to its framing (RFC 9112 §6).
package struct BodyReader {
  package enum Step {
    /// Payload at this range of the input; `consumed` bytes of it are done with.
    case payload(Range<Int>, consumed: Int)
    /// Part of the trailer lines at this range of the input.
    case trailer(Range<Int>, consumed: Int)
    /// All input is used and the body goes on.
    case needMore(consumed: Int)
    /// The body is complete; what follows belongs to the next message.
    case end(consumed: Int)
    case violation(ChunkViolation)
  }

  private enum State {
    case length(UInt64)
    case chunked(ChunkScanner)
    case untilClose
  }
  private var state: State

  /// - Parameter framing: anything but `.none` has a body; `.none` is an empty one.
  package init(_ framing: BodyFraming) {
    switch framing {
    case .none: state = .length(0)
    case .length(let count): state = .length(count)
    case .chunked: state = .chunked(ChunkScanner())
    case .untilClose: state = .untilClose
    }
  }

  /// Whether the end of the connection is the proper end of this body.
  package var endsWithConnection: Bool { if case .untilClose = state { true } else { false } }

  /// Whether the body is known to be complete without looking at further bytes.
  package var isAtEnd: Bool {
    switch state {
    case .length(let remaining): remaining == 0
    case .chunked(let scanner): scanner.isAtEnd
    case .untilClose: false
    }
  }

  package mutating func next(_ bytes: UnsafeRawBufferPointer) -> Step {
    switch state {
    case .length(0): return .end(consumed: 0)
    case .length(let remaining):
      if bytes.isEmpty { return .needMore(consumed: 0) }
      let count = remaining < UInt64(bytes.count) ? Int(remaining) : bytes.count
      state = .length(remaining - UInt64(count))
      return .payload(0..<count, consumed: count)
    case .untilClose:
      return bytes.isEmpty ? .needMore(consumed: 0) : .payload(0..<bytes.count, consumed: bytes.count)
    case .chunked(var scanner):
      let step = scanner.next(bytes)
      state = .chunked(scanner)
      switch step {
      case .payload(let range, let consumed): return .payload(range, consumed: consumed)
      case .trailer(let range, let consumed): return .trailer(range, consumed: consumed)
      case .needMore(let consumed): return .needMore(consumed: consumed)
      case .end(let consumed): return .end(consumed: consumed)
      case .violation(let violation): return .violation(violation)
      }
    }
  }
}
