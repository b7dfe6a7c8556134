import Glibc
import HTTPWire
import Locking

/// The right to refresh one grant: a lock of the kernel's on a file, which ends with the process whatever happens to it. It
/// excludes other leases in the same process as it does other processes.
final class StoreLease: GrantLease {
  private let path: String
  /// nil once it is released.
  private let descriptor: Protected<Int32?>

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = Protected(descriptor)
  }

  deinit { release() }

  /// nil while another has it.
  static func take(_ grant: GrantID, in files: StoreFiles) throws(StoreError) -> StoreLease? {
    guard isFileName(grant.text) else {
      throw .unusable(path: files.leases, reason: "a grant has an impossible identity")
    }
    try files.createDirectories()
    let path = "\(files.leases)/\(grant.text).lock"
    while true {
      let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw StoreError(systemError: errno, path: path) }
      guard try lock(descriptor, path) else {
        close(descriptor)
        return nil
      }
      if isStillThere(descriptor, path) { return StoreLease(path: path, descriptor: descriptor) }
      close(descriptor)  // whoever had it has removed the file between our opening and locking it
    }
  }

  func release() {
    descriptor.withLock { held in
      guard let descriptor = held else { return }
      held = nil
      unlink(path)  // while it is locked: who opens it now finds that it is gone, above
      flock(descriptor, LOCK_UN)  // closing is not enough while a child that was just forked has it too
      close(descriptor)
    }
  }

  private static func lock(_ descriptor: Int32, _ path: String) throws(StoreError) -> Bool {
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let failure = errno
      if failure == EINTR { continue }
      guard failure == EWOULDBLOCK else {
        close(descriptor)
        throw StoreError(systemError: failure, path: path)
      }
      return false
    }
    return true
  }

  private static func isStillThere(_ descriptor: Int32, _ path: String) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && lstat(path, &named) == 0 && own.st_dev == named.st_dev
      && own.st_ino == named.st_ino
  }

  private static func isFileName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-_".utf8.contains($0) }
  }
}
