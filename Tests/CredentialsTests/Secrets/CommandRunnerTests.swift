import EventLoop
import Foundation
import Testing

@testable import Credentials

struct CommandRunnerTests {
  private func shell(_ script: String, timeLimit: Duration = .seconds(10)) throws(SecretFailure) -> String {
    String(decoding: try CommandRunner.run(["/bin/sh", "-c", script], timeLimit: timeLimit), as: UTF8.self)
  }

  @Test func `arguments reach the program as they are`() throws {
    let output = try CommandRunner.run(["printf", "%s|", "a b", "$HOME", "*", ""])
    #expect(String(decoding: output, as: UTF8.self) == "a b|$HOME|*||")
  }

  @Test func `the program has our environment and no input`() throws {
    #expect(try shell("echo ${PATH:+set}; cat") == "set\n")
  }

  @Test func `variables that hold other secrets are withheld from the program`() throws {
    let output = try CommandRunner.run(["/bin/sh", "-c", "echo ${PATH-none} ${HOME-none}"], withholding: ["HOME"])
    #expect(String(decoding: output, as: UTF8.self).hasSuffix(" none\n"))
    #expect(!String(decoding: output, as: UTF8.self).hasPrefix("none"))
  }

  @Test func `standard error goes nowhere`() throws {
    #expect(try shell("echo sentinel >&2; echo out") == "out\n")
  }

  @Test func `failures are told by exit code, signal and cause`() {
    #expect(throws: SecretFailure.exited(3)) { try shell("echo sentinel; exit 3") }
    #expect(throws: SecretFailure.killed(signal: 9)) { try shell("kill -9 $$") }
    #expect(throws: SecretFailure.notStarted(ENOENT)) { try CommandRunner.run(["/nonexistent/program"]) }
    #expect(throws: SecretFailure.notStarted(ENOENT)) { try CommandRunner.run([]) }
  }

  @Test(.timeLimit(.minutes(1))) func `a program that does not end is ended, with all it started`() throws {
    let folder = try TemporaryFolder()
    let pids = folder.file("pids")
    #expect(throws: SecretFailure.timedOut) {
      try shell("sleep 60 & echo $! > \(pids); echo $$ >> \(pids); wait", timeLimit: .seconds(1))
    }
    let all = try folder.text(of: "pids").split(separator: "\n").compactMap { pid_t($0) }
    #expect(all.count == 2)
    // A signal takes effect a moment after it was sent; one that was not sent, a minute.
    for pid in all { while isRunning(pid), !Task.isCancelled { sched_yield() } }
    #expect(all.allSatisfy { !isRunning($0) })
  }

  /// An orphan is init's to reap; where there is no init, it stays a zombie.
  private func isRunning(_ pid: pid_t) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)  // none: gone
    return status?.split(separator: ")").last.map { !$0.hasPrefix(" Z") } ?? false
  }

  @Test func `who keeps the output open is not waited for`() throws {
    let folder = try TemporaryFolder()
    #expect(try shell("sleep 60 & echo $! > \(folder.file("pid")); echo out") == "out\n")
    if let pid = pid_t(try folder.text(of: "pid").trimmingCharacters(in: .newlines)) { kill(pid, SIGKILL) }
  }

  @Test func `output has a limit`() throws {
    #expect(throws: SecretFailure.tooLong) { try shell("yes") }
    #expect(throws: SecretFailure.tooLong) { try shell("head -c 65537 /dev/zero") }
    #expect(try CommandRunner.run(["head", "-c", "65536", "/dev/zero"]).count == 65_536)
  }

  @Test func `programs that run at a time don't mix`() async {
    let outputs = await withTaskGroup(of: String?.self) { group in
      for number in 0..<16 {
        group.addTask {
          await BlockingWork.run(named: "test-command") {
            try? CommandRunner.run(["echo", "\(number)"]).map { String(UnicodeScalar($0)) }.joined()
          }
        }
      }
      return await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(outputs == Set((0..<16).map { "\($0)\n" }))
  }
}
