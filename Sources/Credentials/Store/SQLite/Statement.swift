import CSQLite
import Glibc

/// A value for a parameter of a statement.
enum SQLiteValue {
  case null
  case integer(Int64)
  case text(String)
  case blob([UInt8])

  static func integer(_ value: Int64?) -> SQLiteValue { value.map { .integer($0) } ?? .null }
  static func text(_ value: String?) -> SQLiteValue { value.map { .text($0) } ?? .null }
  static func blob(_ value: [UInt8]?) -> SQLiteValue { value.map { .blob($0) } ?? .null }
}

/// A prepared statement, and the row it stands on. Owns the `sqlite3_stmt`. https://sqlite.org/c3ref/stmt.html
struct Statement: ~Copyable {
  private let database: Database
  private let pointer: OpaquePointer

  init(_ database: Database, _ sql: String) throws(StoreError) {
    var prepared: OpaquePointer?
    let result = sqlite3_prepare_v2(database.handle, sql, -1, &prepared, nil)
    guard result == SQLITE_OK, let prepared else { throw database.failure(result) }
    self.database = database
    pointer = prepared
  }

  deinit { sqlite3_finalize(pointer) }

  /// Gives the parameters their values, in order.
  func bind(_ values: [SQLiteValue]) throws(StoreError) {
    precondition(values.count == sqlite3_bind_parameter_count(pointer), "a value for each parameter")
    for (offset, value) in values.enumerated() {
      let index = Int32(offset + 1)
      let result =
        switch value {
        case .null: sqlite3_bind_null(pointer, index)
        case .integer(let integer): sqlite3_bind_int64(pointer, index, integer)
        case .text(let text): proofd_sqlite3_bind_text(pointer, index, text, Int32(text.utf8.count))
        // An empty array may have no address, and without one SQLite binds NULL.
        case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(pointer, index, 0)
        case .blob(let bytes): proofd_sqlite3_bind_blob(pointer, index, bytes, Int32(bytes.count))
        }
      guard result == SQLITE_OK else { throw database.failure(result) }
    }
  }

  /// Goes to the next row; false if there is none.
  func step() throws(StoreError) -> Bool {
    errno = 0
    let result = sqlite3_step(pointer)
    let systemError = errno
    switch result {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw database.failure(result, systemError: systemError)
    }
  }

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(pointer, column) }
  func integerOrNil(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
  func textOrNil(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  /// Empty for NULL; bytes that are not UTF-8 become U+FFFD.
  func text(_ column: Int32) -> String {
    guard let text = sqlite3_column_text(pointer, column) else { return "" }
    return String(
      decoding: UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(pointer, column))), as: UTF8.self)
  }

  func blobOrNil(_ column: Int32) -> [UInt8]? {
    guard !isNull(column) else { return nil }
    let bytes = sqlite3_column_blob(pointer, column)  // first: it may convert, which moves the length
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(pointer, column))))
  }
}
