#pragma once
#include <sqlite3.h>

// What SQLite has as macros with casts, or with variable arguments, as functions.

/// SQLite copies the bytes. https://sqlite.org/c3ref/bind_blob.html
static inline int proofd_sqlite3_bind_text(sqlite3_stmt *statement, int index, const char *text, int bytes) {
  return sqlite3_bind_text(statement, index, text, bytes, SQLITE_TRANSIENT);
}
static inline int proofd_sqlite3_bind_blob(sqlite3_stmt *statement, int index, const void *blob, int bytes) {
  return sqlite3_bind_blob(statement, index, blob, bytes, SQLITE_TRANSIENT);
}

/// Whether closing leaves the write-ahead log as it is. https://sqlite.org/c3ref/c_dbconfig_defensive.html
static inline int proofd_sqlite3_leave_log(sqlite3 *database, int leave) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave, (int *)0);
}
/// SQL that could damage the file, or that a hostile file brings along, does not run.
static inline int proofd_sqlite3_defend(sqlite3 *database) {
  int result = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  if (result == SQLITE_OK) result = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
  if (result == SQLITE_OK) result = sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
  if (result == SQLITE_OK) result = sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
  return result;
}

// A composed constant of SQLite's, which the importer can't evaluate: no room for the file of shared memory.
static const int proofd_SQLITE_IOERR_SHMSIZE = SQLITE_IOERR_SHMSIZE;
