import COpenSSL

/// The key derivation of passphrases that is dear in memory. RFC 7914
package enum Scrypt {
  /// What a derivation costs. It is stored beside what it protects, so that it is read from files of doubtful origin: no
  /// value that exists takes more than 256 MiB or some seconds.
  package struct Cost: Sendable, Equatable {
    package static let memoryBytesMax = 256 << 20
    package static let parallelismMax = 4

    /// log₂ of N.
    package let logN: Int
    package let r: Int
    package let p: Int

    /// nil if it is out of bounds.
    package init?(logN: Int, r: Int, p: Int) {
      guard (1...20).contains(logN), (1...32).contains(r), (1...Self.parallelismMax).contains(p),
        128 * r << logN <= Self.memoryBytesMax
      else { return nil }
      self.init(unchecked: logN, r, p)
    }

    private init(unchecked logN: Int, _ r: Int, _ p: Int) {
      self.logN = logN
      self.r = r
      self.p = p
    }

    /// N = 2¹⁷, r = 8, p = 1: 128 MiB, and half a second or so.
    package static let standard = Cost(unchecked: 17, 8, 1)

    /// The blocks of the mix, and those of the result. RFC 7914 §2
    var memoryBytes: Int { 128 * r * ((1 << logN) + p + 2) }
  }

  /// - Throws: ``CryptographyError/library(_:code:)`` if the memory can't be had.
  package static func derive(
    _ passphrase: Secret, salt: [UInt8], cost: Cost, byteCount: Int = SealingKey.byteCount
  ) throws(CryptographyError) -> Secret {
    try KeyDerivation(name: "SCRYPT").derive(passphrase, salt: salt, byteCount: byteCount) {
      // OpenSSL's own limit of memory is 32 MiB.
      proofd_scrypt(
        $0, $1, $2, $3, salt.count, 1 << UInt64(cost.logN), UInt32(cost.r), UInt32(cost.p), UInt64(cost.memoryBytes),
        $4,
        $5)
    }
  }
}
