import Glibc

/// A directory that goes with the test.
final class TemporaryFolder {
  let path: String

  init() {
    var template = Array("/tmp/tracing-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress, let made = mkdtemp(base) else {
        preconditionFailure("no directory can be made in /tmp")
      }
      return String(cString: made)
    }
  }

  deinit {
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      unlink("\(path)/\(name)")
    }
    closedir(directory)
    rmdir(path)
  }

  func contents(of name: String) -> String { FileBytes.read("\(path)/\(name)") }
}

enum FileBytes {
  static func read(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    return String(decoding: readAll(descriptor), as: UTF8.self)
  }

  static func readAll(_ descriptor: Int32) -> [UInt8] {
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &piece, piece.count)
      guard count > 0 else { return all }
      all += piece[..<count]
    }
  }
}
