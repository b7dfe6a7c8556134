import Glibc

/// The directory the control socket stands in: whoever may write to it could put a socket of their own there.
enum ControlDirectory {
  /// Makes the directory, mode 0700, with its parents; one that is there must be ours, and nobody else's to write to.
  static func prepare(_ path: String) throws(ControlSocketError) {
    try make(path)
    var status = stat()
    guard stat(path, &status) == 0 else { throw .directory(path: path, reason: String(cString: strerror(errno))) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw .directory(path: path, reason: "not a directory") }
    guard status.st_uid == geteuid() else { throw .directory(path: path, reason: "belongs to another user") }
    guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
      throw .directory(path: path, reason: "others may write to it; `chmod 700` it")
    }
  }

  /// Holds off others who want to bind in the directory, for the time of `body`.
  static func withLock<Result>(
    _ path: String, _ body: () throws(ControlSocketError) -> Result
  ) throws(ControlSocketError) -> Result {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .directory(path: path, reason: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw .directory(path: path, reason: String(cString: strerror(errno))) }
    }
    return try body()
  }

  private static func make(_ path: String) throws(ControlSocketError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
      throw .directory(path: path, reason: String(cString: strerror(errno)))
    }
    try make(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw .directory(path: path, reason: String(cString: strerror(errno)))
    }
  }
}
