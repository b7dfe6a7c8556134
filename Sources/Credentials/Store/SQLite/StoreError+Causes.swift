import CSQLite
import Glibc

extension StoreError {
  /// What an extended result code means for the store. https://sqlite.org/rescode.html
  ///
  /// - Parameter systemError: `errno` of the call that failed, if it was one of the system's; else 0.
  init(sqlite result: Int32, systemError: Int32, path: String) {
    switch result & 0xFF {
    case SQLITE_FULL: self = .diskFull(path: path)
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .busy(path: path)
    case SQLITE_READONLY: self = .readOnly(path: path)
    case SQLITE_NOTADB: self = .notAStore(path: path)
    case SQLITE_CORRUPT: self = .unusable(path: path, reason: "the file is damaged")
    case SQLITE_IOERR where result == proofd_SQLITE_IOERR_SHMSIZE: self = .diskFull(path: path)
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM:
      self = Self(
        systemError: systemError != 0 ? systemError : Self.obstacle(to: path), path: path,
        otherwise: String(cString: sqlite3_errstr(result)))
    default: self = .unusable(path: path, reason: String(cString: sqlite3_errstr(result)))
    }
  }

  /// What a system call's `errno` means for the store.
  init(systemError: Int32, path: String, otherwise reason: String? = nil) {
    switch systemError {
    case ENOSPC, EDQUOT, EFBIG: self = .diskFull(path: path)
    case EROFS, EACCES, EPERM: self = .readOnly(path: path)
    case 0: self = .unusable(path: path, reason: reason ?? "unknown")
    default: self = .unusable(path: path, reason: String(cString: strerror(systemError)))
    }
  }

  /// SQLite does not always say why it can't make the files beside its own.
  private static func obstacle(to path: String) -> Int32 {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    return access(folder, W_OK) == 0 ? 0 : errno
  }
}
