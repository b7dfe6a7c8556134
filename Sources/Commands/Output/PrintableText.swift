extension String {
  /// With escapes in the place of what a terminal would obey or a reader would be deceived by: control characters, line
  /// separators, bidirectional and other invisible marks.
  ///
  /// All text that came from a file, a server or a request passes here before it is shown.
  var printable: String {
    guard !unicodeScalars.allSatisfy(\.isPlain) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isPlain {
        text.unicodeScalars.append(scalar)
      } else {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isPlain: Bool {
    if value < 0x7F { return value >= 0x20 }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return false
    default: return true
    }
  }
}
