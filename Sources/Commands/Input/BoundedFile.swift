import Cryptography
import Glibc

/// Whole files that hold secrets, up to a size.
enum BoundedFile {
  /// - Returns: what is in the file, and whether other users may read it.
  static func read(
    path: String, bytesMax: Int
  ) throws(CommandFailure) -> (content: Secret, isOpenToOthers: Bool) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(path, errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(path, errno) }
    let isOpen = status.st_mode & S_IFMT == S_IFREG && status.st_mode & 0o077 != 0
    return (try read(descriptor, bytesMax: bytesMax, name: path), isOpen)
  }

  static func read(_ descriptor: Int32, bytesMax: Int, name: String) throws(CommandFailure) -> Secret {
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytesMax + 1, alignment: 1)
    room.initializeMemory(as: UInt8.self, repeating: 0)
    defer {
      if let start = room.baseAddress { explicit_bzero(start, room.count) }
      room.deallocate()
    }
    var count = 0
    while count < room.count {
      let more = Glibc.read(descriptor, room.baseAddress?.advanced(by: count), room.count - count)
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { throw unreadable(name, errno) }
      if more == 0 { break }
      count += more
    }
    guard count <= bytesMax else { throw .usage("\(name) has more than \(bytesMax >> 10) KiB") }
    return Secret(UnsafeRawBufferPointer(rebasing: room[..<count]))
  }

  private static func unreadable(_ name: String, _ code: Int32) -> CommandFailure {
    CommandFailure(exitCode: .failed, message: "cannot read \(name): \(String(cString: strerror(code)))")
  }
}
