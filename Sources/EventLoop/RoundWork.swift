/// Something to be done within a round of events, made once and asked for without allocating or retaining.
///
/// ```swift
/// let feeding = RoundWork { Unmanaged<Connection>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.feed() } }
/// feeding.bind(to: connection)
/// loop.afterEvents(feeding)
/// ```
package final class RoundWork {
  private let action: @convention(c) (UnsafeMutableRawPointer) -> Void
  private var owner: UnsafeMutableRawPointer?
  fileprivate var isAsked = false
  fileprivate var next: Unmanaged<RoundWork>?

  /// - Parameter action: is called with the owner.
  package init(_ action: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void) { self.action = action }

  /// Names whose work it is. Unretained: the owner holds this, and hands itself to `EventLoop.retire` when it goes, which
  /// keeps it until the round is over.
  package func bind(to owner: AnyObject) { self.owner = Unmanaged.passUnretained(owner).toOpaque() }

  func run() { if let owner { action(owner) } }
}

/// Work that was asked for, in that order, each once.
struct RoundWorkList {
  private var first: Unmanaged<RoundWork>?
  private var last: Unmanaged<RoundWork>?
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ work: RoundWork) {
    if work.isAsked { return }
    work.isAsked = true
    let added = Unmanaged.passUnretained(work)
    if let last { last._withUnsafeGuaranteedRef { $0.next = added } } else { first = added }
    last = added
    count += 1
  }

  /// Takes the first off the list; it may be asked for again from then on.
  mutating func popFirst() -> Unmanaged<RoundWork>? {
    guard let work = first else { return nil }
    work._withUnsafeGuaranteedRef {
      first = $0.next
      if first == nil { last = nil }
      $0.next = nil
      $0.isAsked = false
    }
    count -= 1
    return work
  }
}
