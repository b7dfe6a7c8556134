import EventLoop
import Glibc
import Locking

/// Runs a program for its output, without a shell, with a time limit. Standard error goes nowhere: it may hold secrets.
enum CommandRunner {
  static let outputBytesMax = 65_536
  static let timeLimit = Duration.seconds(10)
  /// How often to see whether a program ended whose output somebody else keeps open.
  private static let lookIntervalMilliseconds: Int32 = 20

  /// Only one at a time between making a pipe and starting a program, so that no other program inherits the pipe.
  private static let starting = Protected(())

  /// Blocks until the program ended, or was ended together with what it started.
  ///
  /// - Parameter withheld: names of environment variables that it does not get; the others are ours.
  static func run(
    _ words: [String], withholding withheld: Set<String> = [], timeLimit: Duration = timeLimit
  ) throws(SecretFailure) -> [UInt8] {
    let deadline = SystemTime().bootNanoseconds + timeLimit.nanoseconds
    let (process, reading) = try starting.withLock { _ throws(SecretFailure) in try startWithPipe(words, withheld) }
    defer { close(reading) }
    var output: [UInt8] = []
    let status: CInt
    do throws(SecretFailure) {
      status = try exitStatus(of: process, reading: reading, into: &output, until: deadline)
    } catch {
      kill(-process, SIGKILL)
      reap(process)
      throw error
    }
    try check(status)
    guard output.count <= outputBytesMax else { throw .tooLong }
    return output
  }

  /// Reads until the program ended; who else keeps the pipe open is not waited for.
  ///
  /// - Throws: while the program still runs.
  private static func exitStatus(
    of process: pid_t, reading: Int32, into output: inout [UInt8], until deadline: Int64
  ) throws(SecretFailure) -> CInt {
    var isOpen = true
    while true {
      let status = exitStatus(of: process)
      if isOpen { isOpen = drain(reading, into: &output) }
      if let status { return status }
      guard output.count <= outputBytesMax else { throw .tooLong }
      guard SystemTime().bootNanoseconds < deadline else { throw .timedOut }
      var waiting = pollfd(fd: isOpen ? reading : -1, events: Int16(POLLIN), revents: 0)
      poll(&waiting, 1, lookIntervalMilliseconds)
    }
  }

  /// Takes what is there, up to a little more than the limit.
  ///
  /// - Returns: whether there may be more.
  private static func drain(_ reading: Int32, into output: inout [UInt8]) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 4_096)
    defer { chunk.withUnsafeMutableBytes { SecretText.wipe($0) } }
    while output.count <= outputBytesMax {
      let got = read(reading, &chunk, chunk.count)
      if got < 0 && errno == EINTR { continue }
      if got <= 0 { return got < 0 && errno == EAGAIN }
      output += chunk[..<got]
    }
    return true
  }

  private static func check(_ status: CInt) throws(SecretFailure) {
    let signal = status & 0x7F
    guard signal == 0 else { throw .killed(signal: signal) }
    let code = status >> 8 & 0xFF
    guard code == 0 else { throw .exited(code) }
  }

  /// nil while it runs. Someone else's reaping counts as the exit code of `false`.
  private static func exitStatus(of process: pid_t) -> CInt? {
    var status: CInt = 0
    while true {
      let ended = waitpid(process, &status, WNOHANG)
      if ended < 0 && errno == EINTR { continue }
      return ended == 0 ? nil : ended < 0 ? 0x100 : status
    }
  }

  private static func reap(_ process: pid_t) {
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
  }

  /// - Returns: the process, and the end of the pipe its output comes from.
  private static func startWithPipe(
    _ words: [String], _ withheld: Set<String>
  ) throws(SecretFailure) -> (pid_t, reading: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .notStarted(errno) }
    defer { close(ends[1]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    do throws(SecretFailure) {
      return (try start(words, withheld, output: ends[1]), ends[0])
    } catch {
      close(ends[0])
      throw error
    }
  }

  /// Starts it in a process group of its own, with no signal blocked. All our descriptors are close-on-exec.
  private static func start(_ words: [String], _ withheld: Set<String>, output: Int32) throws(SecretFailure) -> pid_t {
    guard let program = words.first else { throw .notStarted(ENOENT) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let environment = ProcessEnvironment.variables.filter { !withheld.contains($0.key) }.map { "\($0.key)=\($0.value)" }
    var process = pid_t()
    let failure = withCStrings(words) { arguments in
      withCStrings(environment) { posix_spawnp(&process, program, &actions, &attributes, arguments, $0) }
    }
    guard failure == 0 else { throw .notStarted(failure) }
    return process
  }

  private static func withCStrings<R>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    let pointers = texts.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return (pointers + [nil]).withUnsafeBufferPointer { buffer in
      guard let base = buffer.baseAddress else { preconditionFailure("an array of one has a base") }
      return body(base)
    }
  }
}
