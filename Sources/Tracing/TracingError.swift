import Glibc

/// What can go wrong where the log is opened. After that nothing throws: a log must not stop a request.
package enum TracingError: Error, Equatable, CustomStringConvertible {
  /// The operating system refused to open the log file.
  case logNotOpened(path: String, code: Int32)
  /// The log file is a directory, a device or a symbolic link.
  case logNotAFile(path: String)

  package var description: String {
    switch self {
    case .logNotOpened(let path, let code): "cannot open the log file \(path): \(String(cString: strerror(code)))"
    case .logNotAFile(let path): "the log file \(path) is not a regular file"
    }
  }
}
