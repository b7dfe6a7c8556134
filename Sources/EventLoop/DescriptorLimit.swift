import Glibc

/// How many descriptors the process may have open: each connection is one.
package enum DescriptorLimit {
  /// Raises the limit as far as the system lets an ordinary user (getrlimit(2)).
  ///
  /// - Returns: the limit that holds from now on.
  package static func raise() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    if limit.rlim_cur < limit.rlim_max {
      var raised = limit
      raised.rlim_cur = limit.rlim_max
      if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
