/// Work for the end of a round of events, made once and asked for without allocating or retaining.
///
/// ```swift
/// let roundWork = RoundWork { Unmanaged<Connection>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.roundEnds() } }
/// roundWork.bind(to: connection)
/// loop.atRoundEnd(roundWork)
/// ```
package final class RoundWork {
  private let action: @convention(c) (UnsafeMutableRawPointer) -> Void
  private var owner: UnsafeMutableRawPointer?
  fileprivate var isAsked = false
  fileprivate var next: Unmanaged<RoundWork>?

  package init(_ action: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void) { self.action = action }

  /// Names whose work it is: the one that holds it, and hands itself to `EventLoop.retire` when it goes.
  package func bind(to owner: AnyObject) { self.owner = Unmanaged.passUnretained(owner).toOpaque() }

  func run() { if let owner { action(owner) } }
}

/// Work that was asked for, in that order, each once.
struct RoundWorkList {
  private var first: Unmanaged<RoundWork>?
  private var last: Unmanaged<RoundWork>?

  var isEmpty: Bool { first == nil }

  mutating func append(_ work: RoundWork) {
    if work.isAsked { return }
    work.isAsked = true
    let added = Unmanaged.passUnretained(work)
    if let last { last._withUnsafeGuaranteedRef { $0.next = added } } else { first = added }
    last = added
  }

  /// Takes the first off the list.
  mutating func popFirst() -> Unmanaged<RoundWork>? {
    guard let work = first else { return nil }
    work._withUnsafeGuaranteedRef {
      first = $0.next
      if first == nil { last = nil }
      $0.next = nil
      $0.isAsked = false
    }
    return work
  }
}
