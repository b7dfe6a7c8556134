import CLinux

/// The variables this process was started with.
package enum ProcessEnvironment {
  /// By name; of a name that is there twice the first counts, as for getenv(3).
  package static var variables: [String: String] {
    var found: [String: String] = [:]
    guard var entry = proofd_environment() else { return found }
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2, found[String(parts[0])] == nil { found[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    return found
  }
}
