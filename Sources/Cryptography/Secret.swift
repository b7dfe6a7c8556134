import COpenSSL

/// Bytes that can't be printed, are zeroed when freed and compared in constant time.
///
/// There is no way to see them but ``withUnsafeBytes(_:)`` and ``revealedString()``, so a review finds every reading.
package final class Secret: @unchecked Sendable, Equatable {  // the storage never changes between init and deinit
  private let storage: UnsafeMutableRawBufferPointer

  /// Copies `bytes`; the caller answers for the original.
  package init(_ bytes: UnsafeRawBufferPointer) {
    storage = .allocate(byteCount: bytes.count, alignment: 1)
    storage.copyMemory(from: bytes)
  }

  /// Copies `bytes`; the caller answers for the original.
  package init(_ bytes: some Collection<UInt8>) {
    storage = .allocate(byteCount: bytes.count, alignment: 1)
    storage.copyBytes(from: bytes)
  }

  /// `secret` with text before and behind it, without a copy in between that nobody zeroes.
  package init(_ prefix: String, _ secret: Secret, _ suffix: String = "") {
    let (before, behind) = (Array(prefix.utf8), Array(suffix.utf8))
    storage = .allocate(byteCount: before.count + secret.count + behind.count, alignment: 1)
    storage.copyBytes(from: before)
    UnsafeMutableRawBufferPointer(rebasing: storage[before.count...]).copyMemory(
      from: UnsafeRawBufferPointer(secret.storage))
    UnsafeMutableRawBufferPointer(rebasing: storage[(before.count + secret.count)...]).copyBytes(from: behind)
  }

  /// Copies the UTF-8 form of `text`.
  package convenience init(utf8 text: String) { self.init(text.utf8) }

  /// `byteCount` bytes that `fill` writes; nil, and zeroed again, if it answers false.
  init?(byteCount: Int, filledBy fill: (UnsafeMutableRawBufferPointer) -> Bool) {
    storage = .allocate(byteCount: byteCount, alignment: 1)
    storage.initializeMemory(as: UInt8.self, repeating: 0)
    guard fill(storage) else { return nil }
  }

  /// So many random bytes. Ends the process if the CSPRNG fails, as ``SecureRandom`` does.
  package init(randomBytes byteCount: Int) {
    storage = .allocate(byteCount: byteCount, alignment: 1)
    SecureRandom.fill(storage)
  }

  deinit {
    OPENSSL_cleanse(storage.baseAddress, storage.count)
    storage.deallocate()
  }

  /// The length in bytes; it is not kept secret.
  package var count: Int { storage.count }

  /// Lends the bytes; they must not be kept past the closure.
  package func withUnsafeBytes<R, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
  ) throws(Failure) -> R {
    try body(UnsafeRawBufferPointer(storage))
  }

  /// The secret as text, for building a request. A copy nobody zeroes: not for keeping.
  package func revealedString() -> String { String(decoding: storage, as: UTF8.self) }

  /// Compares in time that depends on the lengths alone.
  package static func == (a: Secret, b: Secret) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a.storage.baseAddress, b.storage.baseAddress, a.count) == 0
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "[secret]" }
  package var debugDescription: String { "[secret]" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
