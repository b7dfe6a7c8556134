import Glibc

/// Where a store is: `credentials.sqlite` with SQLite's files beside it, and `leases/`, all in the state directory.
struct StoreFiles: Sendable {
  /// Tells whether the file is still the one that was opened.
  struct Identity: Equatable {
    let device: UInt64
    let inode: UInt64
  }

  let directory: String
  var database: String { "\(directory)/credentials.sqlite" }
  var leases: String { "\(directory)/leases" }

  /// The file that is there; nil if there is none.
  ///
  /// - Throws: as ``OwnedPath/status(_:_:)`` for the directory, the file, and those SQLite keeps beside it.
  func identity() throws(StoreError) -> Identity? {
    guard try OwnedPath.status(directory, .folder) != nil, let status = try OwnedPath.status(database, .file) else {
      return nil
    }
    for suffix in ["-wal", "-shm"] { _ = try OwnedPath.status(database + suffix, .file) }
    return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Makes the directories, and an empty file for SQLite unless there is one.
  func create() throws(StoreError) {
    try createDirectories()
    // Not opened: closing it would end the locks of any connection to it in this process.
    if mknod(database, S_IFREG | 0o600, 0) == 0 {
      guard chmod(database, 0o600) == 0 else { throw StoreError(systemError: errno, path: database) }
      try OwnedPath.synchronise(folder: directory)
    } else if errno != EEXIST {
      throw StoreError(systemError: errno, path: database)
    }
  }

  func createDirectories() throws(StoreError) {
    for folder in [directory, leases] {
      try OwnedPath.make(folder: folder)
      _ = try OwnedPath.status(folder, .folder)
    }
  }

  /// Runs `body` while no other process makes a store here.
  func whileCreating<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    let descriptor = open(leases, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreError(systemError: errno, path: leases) }
    defer { close(descriptor) }
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { throw StoreError(systemError: errno, path: leases) }
    }
    return try body()
  }
}
