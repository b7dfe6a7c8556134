import Glibc

/// A folder that goes with the test.
package final class TemporaryFolder {
  package let path: String

  package init() {
    var template = Array("/tmp/loopback-peers-XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil, "mkdtemp: no temporary folder")
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      unlink("\(path)/\(name)")
    }
    closedir(folder)
    rmdir(path)
  }

  package func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  package func write(_ text: String, to name: String) -> String {
    let file = file(name)
    if let stream = fopen(file, "w") {
      fputs(text, stream)
      fclose(stream)
    }
    return file
  }
}
