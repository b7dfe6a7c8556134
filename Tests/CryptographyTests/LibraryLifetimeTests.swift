import Cryptography
import Glibc
import Testing

struct LibraryLifetimeTests {
  @Test func `OpenSSL works until the process is gone`() async {
    await #expect(processExitsWith: .success) {
      LibraryLifetime.lastsUntilProcessEnds()
      // Registered before OpenSSL is used, so run after everything OpenSSL might do at the exit.
      atexit { _exit(ProofKey.generate().thumbprint.isEmpty ? 1 : 0) }
      _ = ProofKey.generate()
      exit(1)
    }
  }
}
