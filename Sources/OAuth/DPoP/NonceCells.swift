package import HTTPWire
import Locking

/// All nonces of one account: a cell per origin and role. Any thread; keep the cell instead of asking per request.
///
/// RFC 9449 §8, §9
package final class NonceCells: Sendable {
  private enum Role: Hashable {
    case authorizationServer, resourceServer
  }
  private struct Key: Hashable {
    let origin: Origin
    let role: Role
  }
  /// Origins come from the configuration and from metadata, so this is never reached in earnest.
  static let cellsMax = 1_000
  private let cells = Protected<[Key: NonceCell]>([:])

  package init() {}

  package func authorizationServer(_ origin: Origin) -> NonceCell {
    cell(Key(origin: origin, role: .authorizationServer))
  }
  package func resourceServer(_ origin: Origin) -> NonceCell { cell(Key(origin: origin, role: .resourceServer)) }

  private func cell(_ key: Key) -> NonceCell {
    cells.withLock { cells in
      if let known = cells[key] { return known }
      if cells.count >= Self.cellsMax { cells.removeAll() }
      let cell = NonceCell()
      cells[key] = cell
      return cell
    }
  }
}
