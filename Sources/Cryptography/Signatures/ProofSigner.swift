import COpenSSL

/// Signs DPoP proofs with one key on one thread. RFC 9449 §4.2
///
/// The hot path of the gateway: besides what OpenSSL does inside, a signature costs no allocation. The header depends on
/// the key alone and is encoded once; claims are written as bytes; random bits for `jti` come in blocks, because a
/// small draw costs nearly as much as a large one.
package final class ProofSigner {
  /// The key every proof is signed with.
  package let key: ProofKey
  /// Initialised for the key once; each signature starts from a copy, since a context signs only once.
  private let template = SignatureContext()
  private let working = SignatureContext()
  /// `BASE64URL(header) || '.'`
  private let encodedHeader: UnsafeMutableRawBufferPointer
  private let random: RandomBlock
  private var claims: UnsafeMutableRawBufferPointer
  private let der: UnsafeMutableRawBufferPointer
  private let raw: UnsafeMutableRawBufferPointer

  /// Ends the process if OpenSSL can't prepare for a key it made itself: memory is out then.
  package init(key: ProofKey) {
    self.key = key
    let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(key.publicJWK.json)}"#
    let segment = Base64URL.encode(header.utf8) + "."
    encodedHeader = .allocate(byteCount: segment.utf8.count, alignment: 1)
    encodedHeader.copyBytes(from: segment.utf8)
    random = RandomBlock()
    claims = .allocate(byteCount: 1024, alignment: 1)
    der = .allocate(byteCount: ES256Signature.derBytesMax, alignment: 1)
    raw = .allocate(byteCount: ES256Signature.rawBytes, alignment: 1)
    OpenSSL.clearErrors()
    let prepared = EVP_DigestSignInit(template.pointer, nil, OpenSSL.sha256.pointer, nil, key.pointer)
    precondition(prepared == 1, "OpenSSL could not prepare for signing")
  }

  deinit {
    encodedHeader.deallocate()
    claims.deallocate()
    der.deallocate()
    raw.deallocate()
  }

  /// A bound for the length of a proof with claims of these lengths, so that a buffer can be reserved before.
  package static func proofBytesMax(htmBytes: Int, htuBytes: Int, nonceBytes: Int) -> Int {
    headerSegmentBytes + Base64URL.encodedCount(ProofClaims.bytesMax(htm: htmBytes, htu: htuBytes, nonce: nonceBytes))
      + 1 + signatureSegmentBytes
  }

  /// Writes a proof in compact serialisation to the start of `output` and returns its length in bytes.
  ///
  /// - Parameters:
  ///   - htm: the method exactly as it is sent.
  ///   - htu: the target's URL without query and fragment.
  ///   - ath: the 43 base64url characters of the access token's SHA-256; empty at the token endpoint.
  ///   - nonce: what the server last gave; empty if it gave none.
  ///   - issuedAtUnixSeconds: the time of this signature.
  /// - Throws: ``CryptographyError/unwritableClaim(_:)`` for a value that can't be in a proof,
  ///   ``CryptographyError/bufferTooSmall``; nothing usable is in `output` then.
  /// RFC 9449 §4.2
  package func sign(
    htm: UnsafeRawBufferPointer, htu: UnsafeRawBufferPointer, ath: UnsafeRawBufferPointer,
    nonce: UnsafeRawBufferPointer, issuedAtUnixSeconds: Int64, into output: UnsafeMutableRawBufferPointer
  ) throws(CryptographyError) -> Int {
    reserveClaims(ProofClaims.bytesMax(htm: htm.count, htu: htu.count, nonce: nonce.count))
    var writer = ProofClaims(storage: claims)
    writer.open(jti: random.next())
    try writer.htm(htm)
    try writer.htu(htu)
    try writer.iat(issuedAtUnixSeconds)
    if !ath.isEmpty { try writer.ath(ath) }
    if !nonce.isEmpty { try writer.nonce(nonce) }
    let payload = writer.close()

    let signedBytes = encodedHeader.count + Base64URL.encodedCount(payload.count)
    guard output.count >= signedBytes + 1 + Self.signatureSegmentBytes else { throw .bufferTooSmall }
    output.copyMemory(from: UnsafeRawBufferPointer(encodedHeader))
    Base64URL.encode(payload, into: UnsafeMutableRawBufferPointer(rebasing: output[encodedHeader.count...]))
    try writeSignature(over: UnsafeRawBufferPointer(rebasing: output[..<signedBytes]))
    output[signedBytes] = UInt8(ascii: ".")
    let encodedSignature = UnsafeMutableRawBufferPointer(rebasing: output[(signedBytes + 1)...])
    return signedBytes + 1 + Base64URL.encode(UnsafeRawBufferPointer(raw), into: encodedSignature)
  }

  /// Leaves r‖s over `message` in `raw`.
  private func writeSignature(over message: UnsafeRawBufferPointer) throws(CryptographyError) {
    OpenSSL.clearErrors()
    var derBytes = der.count
    guard EVP_MD_CTX_copy_ex(working.pointer, template.pointer) == 1,
      EVP_DigestSign(
        working.pointer, der.baseAddress?.assumingMemoryBound(to: UInt8.self), &derBytes,
        message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count) == 1
    else { throw OpenSSL.failure(.sign) }
    guard ES256Signature.writeRaw(der: UnsafeRawBufferPointer(rebasing: der[..<derBytes]), into: raw) else {
      throw .library(.sign, code: 0)
    }
  }

  private func reserveClaims(_ byteCount: Int) {
    guard claims.count < byteCount else { return }
    claims.deallocate()
    claims = .allocate(byteCount: byteCount, alignment: 1)
  }

  /// `{"typ":"dpop+jwt","alg":"ES256","jwk":` (38) + the key (126) + `}`, encoded, and the dot.
  private static let headerSegmentBytes = Base64URL.encodedCount(38 + 126 + 1) + 1
  private static let signatureSegmentBytes = Base64URL.encodedCount(ES256Signature.rawBytes)
}
