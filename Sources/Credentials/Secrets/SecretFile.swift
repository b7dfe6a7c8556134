import Cryptography
import Glibc

/// A secret in a file, as it was when it was read.
struct SecretFile: Sendable {
  static let bytesMax = 65_536

  /// Tells whether a file is still the one that was read: another file at the path, or another content.
  struct Version: Sendable, Equatable {
    let device: UInt64
    let inode: UInt64
    let bytes: Int64
    let modifiedNanoseconds: Int64
    let changedNanoseconds: Int64

    init(_ status: stat) {
      device = UInt64(status.st_dev)
      inode = UInt64(status.st_ino)
      bytes = Int64(status.st_size)
      modifiedNanoseconds = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
      changedNanoseconds = Int64(status.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_ctim.tv_nsec)
    }
  }

  let secret: Secret
  let version: Version
  /// Users other than its owner may read it.
  let isOpenToOthers: Bool

  /// The version at `path` now; nil if there is none.
  static func version(at path: String) -> Version? {
    var status = stat()
    return stat(path, &status) == 0 ? Version(status) : nil
  }

  /// Reads the file. Blocks.
  init(path: String) throws(SecretFailure) {
    // Not blocking, for a pipe that nobody writes to; it is refused below.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unreadable(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .unreadable(errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegularFile }
    secret = try SecretText.secret(from: try Self.content(of: descriptor))
    version = Version(status)
    isOpenToOthers = status.st_mode & 0o077 != 0
  }

  private static func content(of descriptor: Int32) throws(SecretFailure) -> [UInt8] {
    var content = [UInt8](repeating: 0, count: bytesMax + 1)
    defer { content.withUnsafeMutableBytes { SecretText.wipe($0) } }
    var count = 0
    while count < content.count {
      let got = content.withUnsafeMutableBytes {
        read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw .unreadable(errno) }
      if got == 0 { break }
      count += got
    }
    guard count <= bytesMax else { throw .tooLong }
    return Array(content[..<count])
  }
}

/// From what was read to what is meant.
enum SecretText {
  /// Without one line end at the end. An editor puts it there, and `echo` does.
  static func secret(from read: [UInt8]) throws(SecretFailure) -> Secret {
    var bytes = read[...]
    if bytes.last == UInt8(ascii: "\n") {
      bytes.removeLast()
      if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    }
    guard !bytes.isEmpty else { throw .empty }
    return Secret(bytes)
  }

  static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    if let base = bytes.baseAddress { explicit_bzero(base, bytes.count) }
  }
}

/// Why a secret could not be read. No case holds a byte of it, nor of what a command said on standard error.
enum SecretFailure: Error, Sendable, Equatable {
  case notSet
  case unreadable(CInt)
  case notRegularFile
  case tooLong
  case empty
  case notStarted(CInt)
  case timedOut
  case exited(CInt)
  case killed(signal: CInt)
  /// The value can't be kept out of the log.
  case unmaskable(UnmaskableSecret)

  /// A short stable word.
  var code: String { if case .unmaskable(let refusal) = self { refusal.code } else { "secret_unreadable" } }

  /// One thing to do, if more can be said than where it comes from.
  var next: String? { if case .unmaskable(let refusal) = self { refusal.next } else { nil } }

  var detail: String {
    switch self {
    case .notSet: "it is not set"
    case .unreadable(let code): "it can't be read: \(Self.text(code))"
    case .notRegularFile: "it is not a regular file"
    case .tooLong: "it is longer than 64 KiB"
    case .empty: "it is empty"
    case .notStarted(let code): "it can't be started: \(Self.text(code))"
    case .timedOut: "it did not end in time"
    case .exited(let code): "it ended with exit code \(code)"
    case .killed(let signal): "it was ended by signal \(signal)"
    case .unmaskable(let refusal): refusal.detail
    }
  }

  private static func text(_ code: CInt) -> String {
    var buffer = [CChar](repeating: 0, count: 128)
    return strerror_r(code, &buffer, buffer.count) == 0
      ? String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : "error \(code)"
  }
}
