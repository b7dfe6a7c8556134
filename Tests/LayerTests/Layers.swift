/// The table of the layers: a module imports only what stands on a lower level, and C only where its row says.
struct Layer {
  let level: Int
  /// A module of the same level it may import all the same.
  var beside: Set<String> = []
  /// The system libraries the module wraps.
  var c: Set<String> = []
  /// What it may import of the toolchain.
  var toolchain: Set<String> = Layer.ordinary

  private static let ordinary: Set<String> = ["Glibc", "Synchronization", "FoundationEssentials", "Foundation"]
  /// Values in, values out: no sockets, no files, no clock.
  private static let pure: Set<String> = ["Synchronization"]

  static let table: [String: Layer] = [
    "Locking": Layer(level: 1),
    "EventLoop": Layer(level: 2, c: ["CLinux", "CLibevent", "COpenSSL"]),
    "Cryptography": Layer(level: 2, c: ["COpenSSL"]),
    "HTTPWire": Layer(level: 3, toolchain: pure),
    "HTTPTransport": Layer(level: 4),
    "OAuth": Layer(level: 4, toolchain: pure),
    "Tracing": Layer(level: 4, c: ["CZlib"]),
    "Credentials": Layer(level: 5, c: ["CSQLite"]),
    "Configuration": Layer(level: 5, c: ["CYAML"]),
    "Simulators": Layer(level: 5),
    "Gateway": Layer(level: 6),
    "Console": Layer(level: 6),
    "Daemon": Layer(level: 7),
    "Commands": Layer(level: 7, beside: ["Daemon"]),
    "proofd": Layer(level: 8),
    "proofd-sim": Layer(level: 8),
  ]

  /// Module map and shim.h, no logic.
  static let systemLibraries: Set<String> = ["CLinux", "CLibevent", "COpenSSL", "CSQLite", "CYAML", "CZlib"]

  /// Modules that only the named ones may import, whatever their level.
  static let reserved: [String: Set<String>] = ["Simulators": ["proofd-sim"]]
}

extension Layer {
  /// Why `module` may not import `imported`; nil when it may.
  static func objection(to imported: String, in module: String) -> String? {
    guard let layer = table[module] else { return "\(module) is not in the table of layers" }
    if systemLibraries.contains(imported) {
      return layer.c.contains(imported) ? nil : "\(imported) is not visible to \(module)"
    }
    guard let other = table[imported] else {
      return layer.toolchain.contains(imported) ? nil : "\(module) may not use \(imported)"
    }
    if let users = reserved[imported], !users.contains(module) { return "\(imported) is for \(users.sorted()) only" }
    return other.level < layer.level || layer.beside.contains(imported)
      ? nil : "\(module) stands on level \(layer.level), \(imported) on \(other.level)"
  }
}
