/// Reads the targets of Package.swift as text: `module("Name", [ … ])` and `.executableTarget(name: …)`.
enum PackageManifest {
  /// What each target in Sources depends on.
  static func dependencies() throws -> [String: Set<String>] {
    let manifest = try Repository.text(of: "Package.swift")
    let module = try Pattern(#"\bmodule\(\s*"([^"]+)"(?:,\s*\[([^\]]*)\])?"#)
    let executable = try Pattern(
      #"\.executableTarget\(\s*name:\s*"([^"]+)",\s*dependencies:\s*\[([^\]]*)\](?!,\s*path:)"#)
    let quoted = try Pattern(#""([^"]+)""#)
    let targets = module.matches(in: manifest) + executable.matches(in: manifest)
    return Dictionary(
      uniqueKeysWithValues: targets.map { target in
        (target[1], Set(quoted.matches(in: target[2]).map { $0[1] }))
      })
  }
}
