/// Writes the claims of a DPoP proof as JSON: `jti`, `htm`, `htu`, `iat`, then `ath` and `nonce` where there are any,
/// and no other. RFC 9449 §4.2
///
/// What it writes is ASCII and needs no escape but for `"` and `\` in a URL. Everything else a value can't hold by its
/// own grammar is refused, so that no byte from outside ends a string early.
struct ProofClaims {
  private static let jtiBytes = Base64URL.encodedCount(RandomBlock.valueBytes)
  private static let athBytes = Base64URL.encodedCount(SHA256.byteCount)
  private static let iatBytesMax = 19  // of Int64.max

  /// Enough storage for values of these lengths.
  static func bytesMax(htm: Int, htu: Int, nonce: Int) -> Int {
    let names = #"{"jti":"","htm":"","htu":"","iat":,"ath":"","nonce":""}"#.utf8.count
    return names + jtiBytes + htm + 2 * htu + iatBytesMax + athBytes + nonce
  }

  private let storage: UnsafeMutableRawBufferPointer
  private var count = 0

  init(storage: UnsafeMutableRawBufferPointer) { self.storage = storage }

  mutating func open(jti: UnsafeRawBufferPointer) {
    write(#"{"jti":""#)
    count += Base64URL.encode(jti, into: UnsafeMutableRawBufferPointer(rebasing: storage[count...]))
  }

  /// A method is a token, case-sensitive. RFC 9110 §9.1
  mutating func htm(_ method: UnsafeRawBufferPointer) throws(CryptographyError) {
    write(#"","htm":""#)
    guard !method.isEmpty, write(method, of: Self.tokenBytes) else { throw .unwritableClaim(.htm) }
  }

  mutating func htu(_ url: UnsafeRawBufferPointer) throws(CryptographyError) {
    write(#"","htu":""#)
    guard !url.isEmpty else { throw .unwritableClaim(.htu) }
    for byte in url {
      guard Self.urlBytes.contains(byte) else { throw .unwritableClaim(.htu) }
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { append(UInt8(ascii: "\\")) }
      append(byte)
    }
  }

  mutating func iat(_ unixSeconds: Int64) throws(CryptographyError) {
    write(#"","iat":"#)
    guard unixSeconds >= 0 else { throw .unwritableClaim(.iat) }
    var divisor: Int64 = 1
    while unixSeconds / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(ascii: "0") + UInt8(unixSeconds / divisor % 10))
      divisor /= 10
    }
  }

  mutating func ath(_ hash: UnsafeRawBufferPointer) throws(CryptographyError) {
    write(#","ath":""#)
    guard hash.count == Self.athBytes, write(hash, of: Self.base64URLBytes) else { throw .unwritableClaim(.ath) }
    append(UInt8(ascii: "\""))
  }

  /// NQCHAR. RFC 9449 §8.1, RFC 6749 appendix A
  mutating func nonce(_ nonce: UnsafeRawBufferPointer) throws(CryptographyError) {
    write(#","nonce":""#)
    guard write(nonce, of: Self.nonceBytes) else { throw .unwritableClaim(.nonce) }
    append(UInt8(ascii: "\""))
  }

  /// Ends the object and lends it until the storage is written to again.
  mutating func close() -> UnsafeRawBufferPointer {
    append(UInt8(ascii: "}"))
    return UnsafeRawBufferPointer(rebasing: storage[..<count])
  }

  private mutating func append(_ byte: UInt8) {
    storage[count] = byte
    count += 1
  }

  private mutating func write(_ literal: StaticString) {
    let bytes = UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)
    UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  private mutating func write(_ value: UnsafeRawBufferPointer, of allowed: ByteSet) -> Bool {
    for byte in value {
      guard allowed.contains(byte) else { return false }
      append(byte)
    }
    return true
  }

  /// RFC 9110 §5.6.2
  private static let tokenBytes = ByteSet(0x21...0x7E, without: #""(),/:;<=>?@[\]{}"#)
  /// What a request line may hold between its spaces, less the query and the fragment.
  private static let urlBytes = ByteSet(0x21...0x7E, without: "?#")
  private static let base64URLBytes = ByteSet(0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D...0x2D, 0x5F...0x5F)
  private static let nonceBytes = ByteSet(0x21...0x7E, without: #""\"#)
}
