import Glibc
import Testing

@testable import EventLoop

struct ProcessSecrecyTests {
  @Test func `a process that keeps its secrets writes no core file and cannot be looked into`() async {
    await #expect(processExitsWith: .success) {
      guard ProcessSecrecy.isInspectable, ProcessSecrecy.begin() else { exit(1) }
      var limit = rlimit(rlim_cur: 1, rlim_max: 1)
      getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
      guard limit.rlim_cur == 0, limit.rlim_max == 0 else { exit(2) }
      guard !ProcessSecrecy.isInspectable, ProcessSecrecy.begin() else { exit(3) }
      exit(0)
    }
  }

  /// The files of `/proc/self` belong to root then.
  @Test func `it still sees its own descriptors and mappings, as an ordinary user too`() async {
    await #expect(processExitsWith: .success) {
      guard geteuid() != 0 || setuid(65_534) == 0 else { exit(1) }
      guard ProcessSecrecy.begin() else { exit(2) }
      guard let directory = opendir("/proc/self/fd"), readdir(directory) != nil else { exit(3) }
      let maps = open("/proc/self/maps", O_RDONLY)
      var byte: UInt8 = 0
      guard maps >= 0, read(maps, &byte, 1) == 1 else { exit(4) }
      let output = open("/dev/stderr", O_WRONLY)
      guard output >= 0 else { exit(5) }
      exit(0)
    }
  }

  @Test func `where inspection is allowed core files are off all the same`() async {
    await #expect(processExitsWith: .success) {
      guard ProcessSecrecy.begin(allowsInspection: true), ProcessSecrecy.isInspectable else { exit(1) }
      var limit = rlimit(rlim_cur: 1, rlim_max: 1)
      getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
      exit(limit.rlim_cur == 0 && limit.rlim_max == 0 ? 0 : 2)
    }
  }
}
