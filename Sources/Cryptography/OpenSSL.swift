import COpenSSL

/// OpenSSL's per-thread error queue, and the algorithms fetched once for the process.
///
/// The queue is emptied before a call, so that what it holds afterwards is that call's, and drained after a failure,
/// so that the TLS code sharing the thread never reads an error that is not its own.
enum OpenSSL {
  static func clearErrors() { ERR_clear_error() }

  /// The failure of the call just made; empties the queue.
  static func failure(_ operation: LibraryOperation) -> CryptographyError {
    let code = ERR_get_error()
    ERR_clear_error()
    return .library(operation, code: code)
  }

  /// SHA-256, fetched from the provider once: looking it up by name costs more than hashing a token.
  static let sha256 = DigestAlgorithm(name: "SHA256")
}

/// Owns a fetched `EVP_MD`.
final class DigestAlgorithm: @unchecked Sendable {  // an EVP_MD never changes after the fetch
  let pointer: OpaquePointer

  init(name: String) {
    guard let fetched = EVP_MD_fetch(nil, name, nil) else { preconditionFailure("OpenSSL lacks \(name)") }
    pointer = fetched
  }

  deinit { EVP_MD_free(pointer) }
}

extension UnsafeRawBufferPointer {
  /// The bytes for a C call that takes a length and refuses a null pointer even if the length is 0.
  func withNonNullBase<R>(_ body: (UnsafePointer<UInt8>) -> R) -> R {
    if let base = baseAddress { return body(base.assumingMemoryBound(to: UInt8.self)) }
    var nothing: UInt8 = 0
    return body(&nothing)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// As ``UnsafeRawBufferPointer/withNonNullBase(_:)``, for a call that writes.
  func withNonNullMutableBase<R>(_ body: (UnsafeMutablePointer<UInt8>) -> R) -> R {
    if let base = baseAddress { return body(base.assumingMemoryBound(to: UInt8.self)) }
    var nothing: UInt8 = 0
    return body(&nothing)
  }
}
