package import HTTPWire
import Locking

/// The clocks of all servers that were met, by origin. Any thread; keep what it returns instead of asking per request.
package final class ClockSkewTable: Sendable {
  /// Origins come from the configuration and from metadata, so this is never reached in earnest.
  static let originsMax = 1_000
  private let skews = Protected<[Origin: ClockSkew]>([:])

  package init() {}

  package func skew(of origin: Origin) -> ClockSkew {
    skews.withLock { skews in
      if let known = skews[origin] { return known }
      if skews.count >= Self.originsMax { skews.removeAll() }
      let skew = ClockSkew()
      skews[origin] = skew
      return skew
    }
  }
}
