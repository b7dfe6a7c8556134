package import EventLoop
import Glibc

/// A certificate authority and what it issued, made by the `openssl` command once per test run.
package final class TestCertificates: Sendable {
  package static let shared = TestCertificates()

  /// PEM files.
  package let authority: String
  package let otherAuthority: String
  /// For `localhost`, `*.wild.test`, 127.0.0.1 and ::1.
  package let server: String
  package let serverKey: String
  /// The same names, and yesterday's.
  package let expiredServer: String
  /// `serverKey` under a passphrase, in the older form and in PKCS #8.
  package let encryptedKey: String
  package let encryptedPKCS8: String
  /// Two clients with a key each, both known to `authority`.
  package let client: TLSIdentity
  package let otherClient: TLSIdentity

  private init() {
    let folder = TemporaryFolder()
    folder.write(Self.configuration, to: "openssl.cnf")
    // The files are small and the folder outlives every test: it stays until the process ends.
    let status = system("cd \(folder.path) && (\(Self.commands)) >log 2>&1")
    precondition(status == 0, "openssl failed: see \(folder.path)/log")
    authority = folder.file("ca.pem")
    otherAuthority = folder.file("other.pem")
    server = folder.file("server.pem")
    serverKey = folder.file("server.key")
    expiredServer = folder.file("expired.pem")
    encryptedKey = folder.file("encrypted.key")
    encryptedPKCS8 = folder.file("encrypted.p8")
    client = Self.identity("client", in: folder)
    otherClient = Self.identity("client2", in: folder)
    self.folder = Unmanaged.passRetained(folder)
    atexit { TestCertificates.shared.folder.release() }
  }

  package var serverIdentity: TLSIdentity { TLSIdentity(certificateChainFile: server, privateKeyFile: serverKey) }

  private static func identity(_ name: String, in folder: TemporaryFolder) -> TLSIdentity {
    TLSIdentity(certificateChainFile: folder.file("\(name).pem"), privateKeyFile: folder.file("\(name).key"))
  }

  private nonisolated(unsafe) let folder: Unmanaged<TemporaryFolder>

  private static let configuration = """
    [req]
    distinguished_name = name
    prompt = no
    [name]
    CN = test
    [authority]
    basicConstraints = critical, CA:TRUE
    keyUsage = critical, keyCertSign
    [server]
    subjectAltName = DNS:localhost, DNS:*.wild.test, IP:127.0.0.1, IP:::1
    """

  private static let commands = """
    set -e
    new="openssl req -config openssl.cnf -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    $new -x509 -extensions authority -subj /CN=authority -days 2 -keyout ca.key -out ca.pem
    $new -x509 -extensions authority -subj /CN=other -days 2 -keyout other.key -out other.pem
    $new -subj /CN=server -keyout server.key -out server.csr
    sign="openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile openssl.cnf"
    $sign -extensions server -days 2 -out server.pem
    $sign -extensions server -days -1 -out expired.pem
    openssl ec -in server.key -aes128 -passout pass:test -out encrypted.key
    openssl pkcs8 -topk8 -in server.key -passout pass:test -out encrypted.p8
    for client in client client2; do
      $new -subj /CN=$client -keyout $client.key -out $client.csr
      openssl x509 -req -in $client.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out $client.pem
    done
    """
}
