import Locking

/// What happened, in order, noted from any thread.
package final class Notes<Note: Sendable>: Sendable {
  private let notes = Protected<[Note]>([])

  package init() {}

  package func add(_ note: Note) { notes.withLock { $0.append(note) } }
  package var all: [Note] { notes.withLock { $0 } }
  package var count: Int { notes.withLock { $0.count } }
}
