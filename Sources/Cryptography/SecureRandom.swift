import COpenSSL

/// Bytes of OpenSSL's CSPRNG, which seeds and reseeds itself from the kernel.
package enum SecureRandom {
  package static func bytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      fill(UnsafeMutableRawBufferPointer(buffer))
      initialized = count
    }
  }

  /// Overwrites the whole buffer. Ends the process if the CSPRNG fails: nothing after that would be safe.
  package static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let base = buffer.baseAddress, !buffer.isEmpty else { return }
    OpenSSL.clearErrors()
    let filled = RAND_bytes(base.assumingMemoryBound(to: UInt8.self), Int32(buffer.count))
    precondition(filled == 1, "the CSPRNG failed")
  }
}
