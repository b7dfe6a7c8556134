import COpenSSL

/// Finds the one private key in a PEM text. RFC 7468
enum PEMPrivateKey {
  /// The key; the caller owns it. Certificates, public keys and curve parameters beside it are passed over.
  ///
  /// - Throws: ``CryptographyError/malformedKey(_:)``
  static func parse(_ text: Secret) throws(CryptographyError) -> OpaquePointer {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard let source = text.withUnsafeBytes({ BIO_new_mem_buf($0.baseAddress, Int32($0.count)) }) else {
      throw .malformedKey(.notPrivateKeyText)
    }
    defer { BIO_free(source) }
    var found: OpaquePointer?
    var holdsPublicKey = false
    do throws(CryptographyError) {
      while let block = try PEMBlock(from: source) {
        if block.label.hasSuffix("PUBLIC KEY") { holdsPublicKey = true }
        guard block.label.hasSuffix("PRIVATE KEY") else { continue }
        guard found == nil else { throw CryptographyError.malformedKey(.several) }
        found = try block.key()
      }
    } catch {
      EVP_PKEY_free(found)
      throw error
    }
    guard let found else { throw .malformedKey(holdsPublicKey ? .publicKey : .notPrivateKeyText) }
    return found
  }
}

/// What stands between one `BEGIN` and its `END`; zeroed when it is freed.
private struct PEMBlock: ~Copyable {
  let label: String
  /// Headers above the data, such as `Proc-Type: 4,ENCRYPTED`. RFC 1421 §4.6.1.1
  private let isEncrypted: Bool
  private let data: UnsafeMutablePointer<UInt8>?
  private let count: Int

  /// The next block; nil behind the last one.
  init?(from source: OpaquePointer) throws(CryptographyError) {
    var label: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var data: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard PEM_read_bio(source, &label, &header, &data, &count) == 1, let label else {
      guard ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
        throw .malformedKey(.notPrivateKeyText)
      }
      return nil
    }
    self.label = String(cString: label)
    isEncrypted =
      self.label == "ENCRYPTED PRIVATE KEY" || header.map { String(cString: $0).contains("ENCRYPTED") } == true
    self.data = data
    self.count = count
    CRYPTO_free(label, #fileID, #line)
    CRYPTO_free(header, #fileID, #line)
  }

  deinit { CRYPTO_clear_free(data, count, #fileID, #line) }

  /// The key it is; the caller owns it.
  borrowing func key() throws(CryptographyError) -> OpaquePointer {
    guard !isEncrypted else { throw .malformedKey(.encrypted) }
    let form: PrivateKeyImport.Form
    switch label {
    case "PRIVATE KEY": form = .pkcs8
    case "RSA PRIVATE KEY": form = .pkcs1
    case "EC PRIVATE KEY": form = .sec1
    default: throw .malformedKey(.unsupportedType)
    }
    guard let key = PrivateKeyImport.key(UnsafeRawBufferPointer(start: data, count: count), form: form) else {
      throw .malformedKey(.notPrivateKeyText)
    }
    return key
  }
}
