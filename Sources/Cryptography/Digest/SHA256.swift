import COpenSSL

/// SHA-256. FIPS 180-4
package enum SHA256 {
  package static let byteCount = 32

  package static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, initialized in
      hash(bytes, into: UnsafeMutableRawBufferPointer(buffer))
      initialized = byteCount
    }
  }

  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes { hash($0) }
  }

  /// Writes the 32 bytes of the digest to the start of `output`.
  package static func hash(_ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
    precondition(output.count >= byteCount, "a SHA-256 digest has 32 bytes")
    OpenSSL.clearErrors()
    let digested = EVP_Digest(
      bytes.baseAddress, bytes.count, output.baseAddress?.assumingMemoryBound(to: UInt8.self), nil,
      OpenSSL.sha256.pointer, nil)
    precondition(digested == 1, "SHA-256 failed")
  }
}
