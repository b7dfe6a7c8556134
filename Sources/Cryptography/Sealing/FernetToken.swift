import COpenSSL

/// Opens what other programs sealed with Fernet: AES-128-CBC under HMAC-SHA-256. We never make such tokens.
///
/// `0x80 ‖ 8 bytes of time ‖ 16 bytes of IV ‖ ciphertext ‖ 32 bytes of HMAC`, in padded base64url. When it was made is not
/// looked at: a file is as old as it is. Fernet specification 0x80
package enum FernetToken {
  package static let keyBytes = 32
  private static let version: UInt8 = 0x80
  private static let ivStart = 9
  private static let textStart = 25
  private static let macBytes = 32
  private static let blockBytes = 16

  /// - Parameter key: 32 bytes, the signing key before the encryption key.
  /// - Throws: ``CryptographyError/sealBroken`` unless this key made exactly this token.
  package static func open(_ token: some StringProtocol, key: Secret) throws(CryptographyError) -> Secret {
    guard key.count == keyBytes, let bytes = decoded(token), bytes[0] == version else { throw .sealBroken }
    let macStart = bytes.count - macBytes
    let signingKey = key.withUnsafeBytes { Secret($0.prefix(16)) }
    let mac = bytes.withUnsafeBytes {
      HMACSHA256.authenticate(UnsafeRawBufferPointer(rebasing: $0[..<macStart]), key: signingKey)
    }
    guard Secret(mac) == Secret(bytes[macStart...]) else { throw .sealBroken }
    guard let text = decrypt(bytes, textEnd: macStart, key: key.withUnsafeBytes { Secret($0.suffix(16)) }) else {
      throw .sealBroken
    }
    return text
  }

  /// nil unless there is room for everything and for at least one block of ciphertext.
  private static func decoded(_ token: some StringProtocol) -> [UInt8]? {
    let characters = token.utf8
    guard characters.count % 4 == 0 else { return nil }
    let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard let bytes = Base64URL.decode(utf8: characters.dropLast(padding)),
      bytes.count >= textStart + blockBytes + macBytes, (bytes.count - textStart - macBytes) % blockBytes == 0
    else { return nil }
    return bytes
  }

  private static func decrypt(_ token: [UInt8], textEnd: Int, key: Secret) -> Secret? {
    let context = CipherContext()
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    var (count, last): (Int32, Int32) = (0, 0)
    let padded = Secret(byteCount: textEnd - textStart + blockBytes) { output in
      key.withUnsafeBytes { key in
        token.withUnsafeBytes { token in
          key.withNonNullBase { key in
            token.withNonNullBase { token in
              output.withNonNullMutableBase { plain in
                EVP_DecryptInit_ex2(context.pointer, OpenSSL.aes128CBC.pointer, key, token + ivStart, nil) == 1
                  && EVP_DecryptUpdate(
                    context.pointer, plain, &count, token + textStart, Int32(textEnd - textStart)) == 1
                  && EVP_DecryptFinal_ex(context.pointer, plain + Int(count), &last) == 1
              }
            }
          }
        }
      }
    }
    return padded?.withUnsafeBytes { Secret($0.prefix(Int(count + last))) }
  }
}
