import CLinux
import Glibc

/// Keeps what this process holds to itself: no core file, and no look into its memory by other processes of its user.
package enum ProcessSecrecy {
  /// Ends core files, and with them ptrace(2), `/proc/PID/mem`, `environ`, `fd` and the like for everybody without
  /// CAP_SYS_PTRACE. To be called before the first secret is read. Programs this one starts write no core files either;
  /// they can be looked into again, like any other.
  ///
  /// - Parameter allowsInspection: only core files are ruled out; for a debugger, and for tests that count descriptors.
  /// - Returns: whether the system agreed to all of it.
  package static func begin(allowsInspection: Bool = false) -> Bool {
    // Hard and soft. A core_pattern that names a program heeds only the other of the two (core(5)).
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else { return false }
    return allowsInspection || proofd_set_dumpable(0) == 0
  }

  /// Whether others of this user may look into the process. PR_GET_DUMPABLE of prctl(2)
  package static var isInspectable: Bool { proofd_dumpable() != 0 }
}
