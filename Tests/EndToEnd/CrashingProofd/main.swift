import Commands
import Daemon
import EventLoop
import Glibc

// `proofd`, but for one thing: it ends by SIGKILL when a refresh comes to the step that PROOFD_CRASH_AT names. What is
// durable then is what a crash or a power cut leaves behind.

let crashAt = ProcessEnvironment.variables["PROOFD_CRASH_AT"]

let crash: @Sendable (String) -> Void = { step in
  if step == crashAt { kill(getpid(), SIGKILL) }
}

exit(
  CommandLineTool.run(
    CommandLine.arguments,
    probes: RefreshProbes(refresh: { crash($0.rawValue) }, store: { crash("\($0)") })))
