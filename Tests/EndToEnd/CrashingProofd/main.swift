import Commands
import Daemon
import EventLoop
import Glibc
import Locking

// `proofd`, but for one thing: it ends by SIGKILL when a refresh has come through the steps that PROOFD_CRASH_AT names, in
// this order: `storing,uncommitted` is the transaction that keeps the answer, not the one before that notes the intent. What
// is durable then is what a crash or a power cut leaves behind.

let steps = Protected((ProcessEnvironment.variables["PROOFD_CRASH_AT"] ?? "").split(separator: ",").map(String.init))

let crash: @Sendable (String) -> Void = { step in
  let isThere = steps.withLock { steps in
    guard steps.first == step else { return false }
    steps.removeFirst()
    return steps.isEmpty
  }
  if isThere { kill(getpid(), SIGKILL) }
}

exit(
  CommandLineTool.run(
    CommandLine.arguments,
    probes: RefreshProbes(refresh: { crash($0.rawValue) }, store: { crash("\($0)") })))
