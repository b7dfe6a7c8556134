import EventLoop
import Glibc
import Testing

struct StandardDescriptorsTests {
  @Test func `what is closed of the first three descriptors is the null device afterwards, the rest as it was`() async {
    await #expect(processExitsWith: .success) {
      // A pipe in the place of one that stays.
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      dup2(ends[1], STDOUT_FILENO)
      close(STDIN_FILENO)
      close(STDERR_FILENO)
      let isFilled = StandardDescriptors.fill()
      var (null, opened, kept) = (stat(), stat(), stat())
      stat("/dev/null", &null)
      for descriptor in [STDIN_FILENO, STDERR_FILENO] {
        let isOpen = fstat(descriptor, &opened) == 0
        guard isFilled, isOpen, opened.st_rdev == null.st_rdev else { exit(1) }
      }
      guard fstat(STDOUT_FILENO, &kept) == 0, kept.st_mode & S_IFMT == S_IFIFO else { exit(2) }
      exit(0)
    }
  }
}
