/// Spells the path of keys to a value, `routes.orders.methods[1]`, safely for a terminal.
enum KeyPath {
  static let keyCharactersMax = 64

  static func key(_ key: String, of path: String) -> String {
    path.isEmpty ? printable(key) : "\(path).\(printable(key))"
  }

  static func item(_ index: Int, of path: String) -> String { "\(path)[\(index)]" }

  /// A key comes from the file: what could move a cursor or hide text is shown as a number.
  static func printable(_ key: String) -> String {
    var text = ""
    for scalar in key.unicodeScalars.prefix(keyCharactersMax) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate:
        text += "\\u{\(String(scalar.value, radix: 16))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return key.unicodeScalars.count > keyCharactersMax ? text + "…" : text
  }
}
