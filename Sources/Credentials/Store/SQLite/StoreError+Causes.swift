import CSQLite
import Glibc

extension StoreError {
  /// What an extended result code means for the store. https://sqlite.org/rescode.html
  ///
  /// - Parameter systemErrors: `errno` of the system calls that may have failed; 0 for none.
  init(sqlite result: Int32, systemErrors: [Int32], path: String) {
    switch result & 0xFF {
    case SQLITE_FULL: self = .diskFull(path: path)
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .busy(path: path)
    case SQLITE_READONLY: self = .readOnly(path: path)
    case SQLITE_NOTADB: self = .notAStore(path: path)
    case SQLITE_CORRUPT: self = .unusable(path: path, reason: "the file is damaged")
    case SQLITE_IOERR where result == proofd_SQLITE_IOERR_SHMSIZE: self = .diskFull(path: path)
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM:
      // The last of them need not be the cause: what can't be written is looked for, and may then be opened in vain to read.
      self =
        (systemErrors + [Self.obstacle(to: path)]).lazy.compactMap { Self(spaceOrRight: $0, path: path) }.first
        ?? .unusable(path: path, reason: String(cString: sqlite3_errstr(result)))
    default: self = .unusable(path: path, reason: String(cString: sqlite3_errstr(result)))
    }
  }

  /// What a system call's `errno` means for the store.
  init(systemError: Int32, path: String) {
    self =
      Self(spaceOrRight: systemError, path: path)
      ?? .unusable(path: path, reason: String(cString: strerror(systemError)))
  }

  /// nil if it is neither of the two.
  private init?(spaceOrRight systemError: Int32, path: String) {
    switch systemError {
    case ENOSPC, EDQUOT, EFBIG: self = .diskFull(path: path)
    case EROFS, EACCES, EPERM: self = .readOnly(path: path)
    default: return nil
    }
  }

  /// SQLite does not always say why it can't make the files beside its own.
  private static func obstacle(to path: String) -> Int32 {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return access(folder, W_OK) == 0 ? 0 : errno
  }
}
