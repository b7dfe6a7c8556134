import Glibc
import Synchronization

/// Lets a command that works on the store itself finish what it began: Ctrl-C, SIGTERM and SIGHUP end it then, and a
/// second one at once.
enum PatientEnding {
  private static let received = Atomic<Int32>(0)
  private static let note: StaticString = "proofd: ending when the refresh is stored; once more ends at once\n"

  /// From now on, until the process ends.
  static func begin() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { number in
        // Only what a signal handler may do. signal-safety(7)
        let first = PatientEnding.received.compareExchange(expected: 0, desired: number, ordering: .relaxed).exchanged
        guard first else { _exit(128 + number) }
        write(STDERR_FILENO, PatientEnding.note.utf8Start, PatientEnding.note.utf8CodeUnitCount)
      }
    }
  }

  /// The exit code for the signal that came meanwhile; nil if none did.
  static var exitCode: Int32? {
    let number = received.load(ordering: .relaxed)
    return number == 0 ? nil : 128 + number
  }
}
