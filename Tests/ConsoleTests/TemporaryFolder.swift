import Glibc

/// A directory that goes with the test.
final class TemporaryFolder {
  let path: String

  init() {
    var template = Array("/tmp/console-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, let made = mkdtemp(base) else {
        preconditionFailure("no directory can be made in /tmp")
      }
      return String(cString: made)
    }
  }

  deinit { Self.remove(path) }

  func mode(of name: String) -> mode_t {
    var status = stat()
    return lstat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  func exists(_ name: String) -> Bool {
    var status = stat()
    return lstat("\(path)/\(name)", &status) == 0
  }

  func write(_ text: String, to name: String) {
    let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    let bytes = Array(text.utf8)
    _ = Glibc.write(descriptor, bytes, bytes.count)
    close(descriptor)
  }

  private static func remove(_ path: String) {
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name != ".", name != ".." else { continue }
      if entry.pointee.d_type == UInt8(DT_DIR) { remove("\(path)/\(name)") }
      unlink("\(path)/\(name)")
    }
    closedir(directory)
    rmdir(path)
  }
}
