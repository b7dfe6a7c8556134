import COpenSSL
import Glibc
import Locking

/// Whose certificates a TLS client believes.
package enum TrustAnchors: Sendable, Hashable {
  /// PEM certificates, and no others.
  case file(String)
  /// A directory of certificates under the hashes of their subjects, as `openssl rehash` makes it. Each is read when a
  /// certificate names it.
  case directory(String)
  /// What OpenSSL itself would take: all of a file, read at once, and a directory.
  case openSSL

  /// The system's.
  ///
  /// To read all of some 150 authorities takes 2 MB and more time than the rest of the start; where the system keeps
  /// them in a hashed directory too, as Debian does, the few that are needed come from there. Who sets OpenSSL's
  /// variables gets what OpenSSL makes of them, and so does who has written into the file since the directory was made.
  ///
  /// - Parameters:
  ///   - variable: looks an environment variable up.
  ///   - directory, file: OpenSSL's own.
  package static func system(
    variable: (String) -> String? = { name in getenv(name).map { String(cString: $0) } },
    directory: String = String(cString: X509_get_default_cert_dir()),
    file: String = String(cString: X509_get_default_cert_file())
  ) -> TrustAnchors {
    let isToldOtherwise = [X509_get_default_cert_file_env(), X509_get_default_cert_dir_env()].contains {
      $0.map { variable(String(cString: $0)) != nil } ?? false
    }
    guard !isToldOtherwise, isHashed(directory), !isNewer(file, than: directory) else { return .openSSL }
    return .directory(directory)
  }

  /// Whether `file` was written to since the last entry of `directory` was.
  private static func isNewer(_ file: String, than directory: String) -> Bool {
    var (one, other) = (stat(), stat())
    guard stat(file, &one) == 0, stat(directory, &other) == 0 else { return false }
    let (written, made) = (one.st_mtim, other.st_mtim)
    return (written.tv_sec, written.tv_nsec) > (made.tv_sec, made.tv_nsec)
  }

  /// Whether the directory has an entry such as `5ed36f99.0`.
  private static func isHashed(_ directory: String) -> Bool {
    guard let listing = opendir(directory) else { return false }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
      let isHash = withUnsafeBytes(of: &entry.pointee.d_name) { name in
        name[..<8].allSatisfy {
          UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
        }
          && name[8] == UInt8(ascii: ".") && name[9] == UInt8(ascii: "0") && name[10] == 0
      }
      if isHash { return true }
    }
    return false
  }

  /// Makes `context` verify against these.
  func load(into context: OpaquePointer) throws(TLSConfigurationError) {
    let loaded: Int32
    let name: String
    switch self {
    case .file(let path):
      (loaded, name) = (SSL_CTX_load_verify_file(context, path), path)
    case .directory(let path):
      (loaded, name) = (SSL_CTX_load_verify_dir(context, path), path)
    case .openSSL:
      (loaded, name) = (SSL_CTX_set_default_verify_paths(context), "system trust store")
    }
    guard loaded == 1 else { throw .unreadable(file: name, reason: TLSReason.drain()) }
  }
}

/// A client's TLS context that is made when the first connection needs it: many gateways use no TLS at all.
package final class TLSTrust: Sendable {
  private let anchors: TrustAnchors
  private let identity: TLSIdentity?
  private let made = Protected<TLSContext?>(nil)

  /// - Parameter identity: what servers that ask for a certificate are shown.
  package init(_ anchors: TrustAnchors, identity: TLSIdentity? = nil) {
    self.anchors = anchors
    self.identity = identity
  }

  /// - Throws: `TLSConfigurationError`, each time.
  package func context() throws(TLSConfigurationError) -> TLSContext {
    try made.withLock { (made) throws(TLSConfigurationError) in
      if let made { return made }
      let context = try TLSContext(trusting: anchors, identity: identity)
      made = context
      return context
    }
  }
}
