import Cryptography
import Glibc

// ProofRate ROUNDS: DPoP proofs and raw ES256 signatures a second of processor time, one line of JSON for each round.

let slices = 10
let slice = 2_000
let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 7
var proofs = Proofs()
guard var signatures = Signatures() else { exit(1) }

/// What the thread itself has used, so that other processes do not count.
func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func seconds(of work: () -> Bool) -> Double {
  let began = processorSeconds()
  for _ in 0..<slice {
    guard work() else { exit(1) }
  }
  return processorSeconds() - began
}

for _ in 0..<max(1, rounds) {
  var proofSeconds = 0.0
  var signatureSeconds = 0.0
  for _ in 0..<slices {
    proofSeconds += seconds { proofs.sign() }
    signatureSeconds += seconds { signatures.sign() }
  }
  let made = Double(slice * slices)
  print(#"{"proofs": \#(Int(made / proofSeconds)), "signatures": \#(Int(made / signatureSeconds))}"#)
}
