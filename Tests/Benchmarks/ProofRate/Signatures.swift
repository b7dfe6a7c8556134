import COpenSSL
import Glibc

/// Raw ES256 signatures of a digest that is there already: the price no proof can go below.
struct Signatures: ~Copyable {
  private let key: OpaquePointer
  private let context: OpaquePointer
  private let digest = [UInt8](repeating: 0x5A, count: 32)
  private var signature = [UInt8](repeating: 0, count: 72)

  init?() {
    guard let maker = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
    defer { EVP_PKEY_CTX_free(maker) }
    var made: OpaquePointer?
    guard EVP_PKEY_keygen_init(maker) == 1, EVP_PKEY_CTX_set_group_name(maker, "prime256v1") == 1,
      EVP_PKEY_generate(maker, &made) == 1, let made
    else { return nil }
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, made, nil), EVP_PKEY_sign_init(context) == 1 else {
      EVP_PKEY_free(made)
      return nil
    }
    key = made
    self.context = context
  }

  deinit {
    EVP_PKEY_CTX_free(context)
    EVP_PKEY_free(key)
  }

  mutating func sign() -> Bool {
    var count = signature.count
    return EVP_PKEY_sign(context, &signature, &count, digest, digest.count) == 1
  }
}
