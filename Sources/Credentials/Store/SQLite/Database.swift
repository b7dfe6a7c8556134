import CSQLite

/// A connection to an SQLite file that exists. Owns the `sqlite3`; one thread at a time.
///
///     let database = try Database(path: "/home/me/.local/state/proofd/credentials.sqlite")
///     let names = try database.rows("SELECT name FROM t WHERE id = ?", [.integer(7)]) { $0.text(0) }
///
/// https://sqlite.org/c3ref/sqlite3.html
final class Database {
  /// Of one value or one row.
  static let valueBytesMax: Int32 = 16 << 20

  let path: String
  let handle: OpaquePointer

  /// Opens the file and changes nothing. Closing leaves the log as it is, until ``settle()``.
  ///
  /// - Parameter busyMilliseconds: how long a statement waits for another process.
  init(path: String, busyMilliseconds: Int32 = 5_000) throws(StoreError) {
    var opened: OpaquePointer?
    let result = sqlite3_open_v2(
      path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard result == SQLITE_OK, let opened else {
      let failure = StoreError(sqlite: result, systemErrors: [sqlite3_system_errno(opened)], path: path)
      sqlite3_close(opened)
      throw failure
    }
    self.path = path
    handle = opened
    sqlite3_busy_timeout(handle, busyMilliseconds)
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.valueBytesMax)
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
    guard proofd_sqlite3_defend(handle) == SQLITE_OK, proofd_sqlite3_leave_log(handle, 1) == SQLITE_OK else {
      throw StoreError.unusable(path: path, reason: "SQLite lacks a setting")
    }
    try run("PRAGMA temp_store = MEMORY")
    try run("PRAGMA cell_size_check = ON")
    try run("PRAGMA mmap_size = 0")
  }

  deinit { sqlite3_close(handle) }

  /// Makes every change durable and overwrites what is deleted; the file must be known to be ours.
  func settle() throws(StoreError) {
    try run("PRAGMA journal_mode = WAL")
    try run("PRAGMA synchronous = FULL")
    try run("PRAGMA secure_delete = ON")
    try run("PRAGMA foreign_keys = ON")
    proofd_sqlite3_leave_log(handle, 0)
  }

  /// For a file that is no longer the one at its path: SQLite would remove the log of the other by its name.
  func abandonLog() { proofd_sqlite3_leave_log(handle, 1) }

  /// Runs a statement to its end. Returns how many rows it inserted, changed or deleted.
  @discardableResult
  func run(_ sql: String, _ values: [SQLiteValue] = []) throws(StoreError) -> Int {
    _ = try rows(sql, values) { _ in }
    return Int(sqlite3_changes(handle))
  }

  /// What `read` makes of each row.
  func rows<Row>(
    _ sql: String, _ values: [SQLiteValue] = [], _ read: (borrowing Statement) throws(StoreError) -> Row
  ) throws(StoreError) -> [Row] {
    let statement = try Statement(self, sql)
    try statement.bind(values)
    var rows: [Row] = []
    while try statement.step() { rows.append(try read(statement)) }
    return rows
  }

  /// The integer a statement gives, 0 if it gives none.
  func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(StoreError) -> Int64 {
    try rows(sql, values) { $0.integer(0) }.first ?? 0
  }

  /// Writes all that `body` writes, or nothing. Nobody else writes meanwhile.
  func transaction<Result>(
    _ steps: (StoreStep) -> Void, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try run("BEGIN IMMEDIATE")
    let result: Result
    do throws(StoreError) {
      result = try body()
      steps(.uncommitted)
      try run("COMMIT")
    } catch {
      // SQLite has rolled back by itself after some failures; if this fails, closing does it.
      if sqlite3_get_autocommit(handle) == 0 { _ = try? run("ROLLBACK") }
      throw error
    }
    steps(.committed)
    return result
  }

  /// - Parameter systemError: `errno` as the call left it: SQLite does not note it for a commit.
  func failure(_ result: Int32, systemError: Int32 = 0) -> StoreError {
    StoreError(sqlite: result, systemErrors: [sqlite3_system_errno(handle), systemError], path: path)
  }
}

/// Where a write to the store has come to, for tests that end the process there.
package enum StoreStep: Sendable {
  case uncommitted
  case committed
}
