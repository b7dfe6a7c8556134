import Glibc

/// Folders and files that are this user's alone.
enum OwnedPath {
  enum Kind { case folder, file }

  /// Makes a folder, mode 0700 whatever the umask, with its parents. One that is there stays as it is.
  static func make(folder path: String) throws(StoreError) {
    var failure = makeOne(path)
    if failure == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      try make(folder: String(path[..<slash]))
      failure = makeOne(path)
    }
    guard failure == 0 || failure == EEXIST else { throw StoreError(systemError: failure, path: path) }
  }

  private static func makeOne(_ path: String) -> Int32 {
    guard mkdir(path, 0o700) == 0 else { return errno }
    return chmod(path, 0o700) == 0 ? 0 : errno  // the umask may have taken bits away
  }

  /// What is at `path`; nil if there is nothing.
  ///
  /// - Throws: ``StoreError/openToOthers(path:)`` if others may read or write it, ``StoreError/unusable(path:reason:)`` if it
  ///   is theirs, or not of this kind. A folder may be a symbolic link of ours, a file none.
  static func status(_ path: String, _ kind: Kind) throws(StoreError) -> stat? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return try nothing(path) }
    if kind == .folder, status.st_mode & S_IFMT == S_IFLNK {
      try refuseForeign(status, path)
      guard stat(path, &status) == 0 else { return try nothing(path) }
    }
    switch kind {
    case .folder where status.st_mode & S_IFMT != S_IFDIR:
      throw .unusable(path: path, reason: "it is not a directory")
    case .file where status.st_mode & S_IFMT == S_IFLNK:
      throw .unusable(path: path, reason: "it is a symbolic link")
    case .file where status.st_mode & S_IFMT != S_IFREG:
      throw .unusable(path: path, reason: "it is not a regular file")
    default: break
    }
    try refuseForeign(status, path)
    guard status.st_mode & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH) == 0 else { throw .openToOthers(path: path) }
    return status
  }

  private static func nothing(_ path: String) throws(StoreError) -> stat? {
    let failure = errno
    guard failure == ENOENT else { throw StoreError(systemError: failure, path: path) }
    return nil
  }

  static func refuseForeign(_ status: stat, _ path: String) throws(StoreError) {
    guard status.st_uid == geteuid() else { throw .unusable(path: path, reason: "it belongs to another user") }
  }

  /// Makes the names in a folder durable.
  static func synchronise(folder path: String) throws(StoreError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreError(systemError: errno, path: path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StoreError(systemError: errno, path: path) }
  }
}
