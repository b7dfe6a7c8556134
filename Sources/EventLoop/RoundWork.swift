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
  private var isAsked = false

  package init(_ action: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void) { self.action = action }

  /// Names whose work it is: the one that holds it, and hands itself to `EventLoop.retire` when it goes.
  package func bind(to owner: AnyObject) { self.owner = Unmanaged.passUnretained(owner).toOpaque() }

  /// - Returns: whether it was not asked for yet.
  func ask() -> Bool {
    defer { isAsked = true }
    return !isAsked
  }

  func run() {
    isAsked = false
    if let owner { action(owner) }
  }
}
