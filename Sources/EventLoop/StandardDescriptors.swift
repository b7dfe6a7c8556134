import Glibc

/// Standard input, output and error of this process.
package enum StandardDescriptors {
  /// Opens `/dev/null` in the place of each that is closed: the system gives the lowest free number to what is opened
  /// next, and a log line meant for standard error would go into a socket. To be called before anything is opened.
  ///
  /// - Returns: whether all three are open now.
  package static func fill() -> Bool {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
      guard open("/dev/null", O_RDWR) == descriptor else { return false }
    }
    return true
  }
}
