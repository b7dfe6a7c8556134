import COpenSSL

/// Writes the DER of private keys into memory that is zeroed when it is freed.
struct PrivateKeyDER: ~Copyable {
  private let storage: UnsafeMutableRawBufferPointer
  private var count = 0

  private init(byteCount: Int) { storage = .allocate(byteCount: byteCount, alignment: 1) }

  deinit {
    OPENSSL_cleanse(storage.baseAddress, storage.count)
    storage.deallocate()
  }

  /// Imports what was written; the caller owns the key.
  private borrowing func key(_ form: PrivateKeyImport.Form) -> OpaquePointer? {
    PrivateKeyImport.key(UnsafeRawBufferPointer(rebasing: storage[..<count]), form: form)
  }

  /// A P-256 key by its private number, 32 bytes big-endian; OpenSSL computes the public half.
  static func p256(_ scalar: UnsafeRawBufferPointer) -> OpaquePointer? {
    guard scalar.count == 32 else { return nil }
    // ECPrivateKey { version 1, privateKey, [0] prime256v1 }. RFC 5915 §3
    var der = PrivateKeyDER(byteCount: 51)
    der.append([0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20])
    der.append(scalar)
    der.append([0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
    return der.key(.sec1)
  }

  /// An Ed25519 key by its seed. RFC 8410 §7
  static func ed25519(_ seed: UnsafeRawBufferPointer) -> OpaquePointer? {
    guard seed.count == 32 else { return nil }
    var der = PrivateKeyDER(byteCount: 48)
    der.append([0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20])
    der.append(seed)
    return der.key(.pkcs8)
  }

  /// An RSA key by n, e, d, p, q, dp, dq and qi, each unsigned and big-endian. RFC 8017 §A.1.2
  static func rsa(_ numbers: [Secret]) -> OpaquePointer? {
    let version: [UInt8] = [0x02, 0x01, 0x00]
    let content = numbers.reduce(version.count) { $0 + $1.withUnsafeBytes { integerBytes($0) } }
    var der = PrivateKeyDER(byteCount: 1 + lengthBytes(content) + content)
    der.append([0x30])
    der.append(length: content)
    der.append(version)
    for number in numbers { number.withUnsafeBytes { der.append(integer: $0) } }
    return der.key(.pkcs1)
  }

  private mutating func append(_ bytes: some Collection<UInt8>) {
    UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyBytes(from: bytes)
    count += bytes.count
  }

  private mutating func append(integer number: UnsafeRawBufferPointer) {
    let digits = Self.digits(number)
    let isSigned = digits.first.map { $0 >= 0x80 } ?? true
    append([0x02])
    append(length: digits.count + (isSigned ? 1 : 0))
    if isSigned { append([0]) }
    append(digits)
  }

  private mutating func append(length: Int) {
    guard length >= 0x80 else { return append([UInt8(length)]) }
    let count = Self.lengthBytes(length) - 1
    append([0x80 | UInt8(count)])
    for index in (0..<count).reversed() { append([UInt8(truncatingIfNeeded: length >> (8 * index))]) }
  }

  /// Without leading zeros.
  private static func digits(_ number: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    number.drop { $0 == 0 }
  }

  private static func integerBytes(_ number: UnsafeRawBufferPointer) -> Int {
    let digits = digits(number)
    let count = digits.count + (digits.first.map { $0 >= 0x80 } ?? true ? 1 : 0)
    return 1 + lengthBytes(count) + count
  }

  private static func lengthBytes(_ length: Int) -> Int {
    length < 0x80 ? 1 : 1 + (Int.bitWidth - length.leadingZeroBitCount + 7) / 8
  }
}
