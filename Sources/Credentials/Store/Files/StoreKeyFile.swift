import Cryptography
import Glibc

/// The key of a store in a file: the line `proofd store key 1`, and a line of 43 characters of base64url.
enum StoreKeyFile {
  private static let header = "proofd store key 1"
  private static let bytesMax = 1024

  /// The key; nil if there is no file.
  ///
  /// - Parameter isOwn: the file must be this user's alone. What systemd hands out is guarded by systemd, and may also be
  ///   nothing but 32 bytes.
  static func read(_ path: String, isOwn: Bool) throws(StoreError) -> SealingKey? {
    // Not blocking, for a pipe that nobody writes to; it is refused below.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .unusable(path: path, reason: String(cString: strerror(errno)))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw .unusable(path: path, reason: String(cString: strerror(errno)))
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .keyMalformed(path: path) }
    if isOwn {
      try OwnedPath.refuseForeign(status, path)
      guard status.st_mode & (S_IRWXG | S_IRWXO) == 0 else { throw .openToOthers(path: path) }
    }
    var content = try bytes(of: descriptor, path)
    defer { content.withUnsafeMutableBytes { SecretText.wipe($0) } }
    let isBare = !isOwn && content.count == SealingKey.byteCount
    guard let key = isBare ? SealingKey(Secret(content)) : parse(content) else { throw .keyMalformed(path: path) }
    return key
  }

  /// Makes a key and its file, mode 0600 and durable. If another process does at the same time, both get the same key.
  static func create(_ path: String) throws(StoreError) -> SealingKey {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    try OwnedPath.make(folder: folder)
    let key = Secret(randomBytes: SealingKey.byteCount)
    // A file that has the name is whole.
    let draft = "\(path).\(GrantID.random())"
    try write(key, to: draft)
    let linked = link(draft, path) == 0 ? 0 : errno
    unlink(draft)
    guard linked == 0 || linked == EEXIST else { throw StoreError(systemError: linked, path: path) }
    try OwnedPath.synchronise(folder: folder)
    guard let stored = try read(path, isOwn: true) else { throw .keyMissing(path: path) }
    return stored
  }

  private static func write(_ key: Secret, to path: String) throws(StoreError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreError(systemError: errno, path: path) }
    var text = Array("\(header)\n".utf8)
    let encoded = text.count..<text.count + Base64URL.encodedCount(key.count)
    text += [UInt8](repeating: UInt8(ascii: "\n"), count: encoded.count + 1)
    defer { text.withUnsafeMutableBytes { SecretText.wipe($0) } }
    text.withUnsafeMutableBytes { text in
      key.withUnsafeBytes { _ = Base64URL.encode($0, into: UnsafeMutableRawBufferPointer(rebasing: text[encoded])) }
    }
    let written = Glibc.write(descriptor, text, text.count) == text.count && fchmod(descriptor, 0o600) == 0
    let failure = written && fsync(descriptor) == 0 ? 0 : errno
    close(descriptor)
    guard failure == 0, written else {
      unlink(path)
      throw StoreError(systemError: failure == 0 ? ENOSPC : failure, path: path)
    }
  }

  private static func bytes(of descriptor: Int32, _ path: String) throws(StoreError) -> [UInt8] {
    var content = [UInt8](repeating: 0, count: bytesMax + 1)
    defer { content.withUnsafeMutableBytes { SecretText.wipe($0) } }
    var count = 0
    while count < content.count {
      let got = content.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw .unusable(path: path, reason: String(cString: strerror(errno))) }
      if got == 0 { break }
      count += got
    }
    guard count <= bytesMax else { throw .keyMalformed(path: path) }
    return Array(content[..<count])
  }

  private static func parse(_ content: [UInt8]) -> SealingKey? {
    let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard lines.count >= 2, lines[0].elementsEqual(header.utf8), lines[2...].allSatisfy(\.isEmpty),
      var bytes = Base64URL.decode(utf8: lines[1])
    else { return nil }
    defer { bytes.withUnsafeMutableBytes { SecretText.wipe($0) } }
    return SealingKey(Secret(bytes))
  }
}
