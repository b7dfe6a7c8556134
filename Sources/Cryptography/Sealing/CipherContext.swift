import COpenSSL

/// Owns one `EVP_CIPHER_CTX`; OpenSSL zeroes the key in it when it is freed.
struct CipherContext: ~Copyable {
  let pointer: OpaquePointer

  init() {
    guard let context = EVP_CIPHER_CTX_new() else { preconditionFailure("out of memory") }
    pointer = context
  }

  deinit { EVP_CIPHER_CTX_free(pointer) }
}

/// Owns a fetched `EVP_CIPHER`.
final class CipherAlgorithm: @unchecked Sendable {  // an EVP_CIPHER never changes after the fetch
  let pointer: OpaquePointer

  init(name: String) {
    guard let fetched = EVP_CIPHER_fetch(nil, name, nil) else { preconditionFailure("OpenSSL lacks \(name)") }
    pointer = fetched
  }

  deinit { EVP_CIPHER_free(pointer) }
}

extension OpenSSL {
  static let aes256GCM = CipherAlgorithm(name: "AES-256-GCM")
  static let aes128CBC = CipherAlgorithm(name: "AES-128-CBC")
}
