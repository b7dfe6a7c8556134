import Testing

@Suite struct LayerTests {
  @Test func `imports only point down, and C shows only where a module wraps it`() throws {
    let files = try Repository.swiftFiles(under: "Sources")
    #expect(files.count > 50)
    for file in files {
      for imported in try file.imports() {
        let objection = Layer.objection(to: imported, in: file.module)
        #expect(objection == nil, "\(file.path) imports \(imported)")
      }
    }
  }

  @Test func `the dependencies in Package.swift only point down`() throws {
    let declared = try PackageManifest.dependencies()
    #expect(Set(declared.keys) == Set(Layer.table.keys))
    for (module, dependencies) in declared {
      for dependency in dependencies {
        let objection = Layer.objection(to: dependency, in: module)
        #expect(objection == nil, "Package.swift: \(module) depends on \(dependency)")
      }
    }
  }

  @Test func `what a module imports is declared in Package.swift`() throws {
    let declared = try PackageManifest.dependencies()
    for file in try Repository.swiftFiles(under: "Sources") {
      let ours = Set(try file.imports()).intersection(Layer.systemLibraries.union(Layer.table.keys))
      let missing = ours.subtracting(declared[file.module] ?? [])
      #expect(missing.isEmpty, "\(file.path) imports \(missing), which its target does not name")
    }
  }

  @Test func `every folder in Sources is a row of the table`() throws {
    let folders = try Repository.entries(of: "Sources")
    #expect(Set(folders) == Layer.systemLibraries.union(Layer.table.keys))
  }

  @Test func `a system library holds a module map and shim.h and nothing else`() throws {
    for library in Layer.systemLibraries {
      let files = Set(try Repository.entries(of: "Sources/\(library)"))
      #expect(files.isSubset(of: ["module.modulemap", "shim.h"]), "\(library)")
    }
  }

  @Test(arguments: [
    ("HTTPWire", "Glibc"), ("OAuth", "FoundationEssentials"), ("Gateway", "COpenSSL"), ("HTTPWire", "OAuth"),
    ("OAuth", "HTTPTransport"), ("Gateway", "Simulators"), ("Credentials", "CYAML"), ("EventLoop", "Cryptography"),
    ("Daemon", "Commands"), ("Nowhere", "HTTPWire"), ("Tracing", "Unheard"),
  ])
  func `an import the table does not allow is refused`(module: String, imported: String) {
    #expect(Layer.objection(to: imported, in: module) != nil)
  }

  @Test(arguments: [
    "import Glibc", "package import Glibc", "@testable import Glibc", "@preconcurrency internal import Glibc",
    "@_spi(Testing) public import Glibc", "  import Glibc  // why", "import struct Glibc.timespec",
  ])
  func `an import line is recognised in every form`(line: String) throws {
    let file = SwiftFile(path: "Sources/X/Y.swift", text: "// import Foundation\n\(line)\nlet imported = 1\n")
    #expect(try file.imports() == ["Glibc"])
  }
}
