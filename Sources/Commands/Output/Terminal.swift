import Glibc
import HTTPWire

/// Where a command writes: results on standard output, talk on standard error. Nothing else in the process writes there.
struct Terminal: Sendable {
  /// Whether output may be coloured: a terminal, and NO_COLOR not set (no-color.org).
  let isColoured: Bool

  init(environment: [String: String]) {
    isColoured = isatty(1) == 1 && environment["NO_COLOR"]?.isEmpty != false && environment["TERM"] != "dumb"
  }

  /// Writes a result line.
  func result(_ line: String) { Self.write(line + "\n", to: 1) }

  /// Writes bytes as they are, as a result.
  func result(bytes: [UInt8]) { Self.write(bytes, to: 1) }

  /// Writes a line for the person, not for the next program.
  func talk(_ line: String) { Self.write(line + "\n", to: 2) }

  func coloured(_ text: String, _ colour: Colour) -> String {
    isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
  }

  enum Colour: Int {
    case red = 31, green = 32, yellow = 33, cyan = 36, dim = 2
  }

  private static func write(_ text: String, to descriptor: Int32) { write(Array(text.utf8), to: descriptor) }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        } else if errno != EINTR {
          // The reader is gone (EPIPE: `proofd tail | head`): nobody is left to tell.
          exit(errno == EPIPE ? ExitCode.ok.rawValue : ExitCode.failed.rawValue)
        }
      }
    }
  }
}

extension String {
  /// Without what a terminal would obey: control characters of files and servers are shown, not sent.
  var printable: String {
    guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
    return String(
      String.UnicodeScalarView(
        unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
  }
}
