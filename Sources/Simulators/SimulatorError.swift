import Glibc

/// Why a simulation could not start.
package enum SimulatorError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The port can't be listened on; the value is the `errno`.
  case listen(port: UInt16, Int32)
  case thread(Int32)
  /// An option makes no sense; the text says which and why.
  case option(String)

  package var description: String {
    switch self {
    case .listen(let port, let code): "can't listen on 127.0.0.1:\(port): \(Self.text(code))"
    case .thread(let code): "can't start a thread: \(Self.text(code))"
    case .option(let text): text
    }
  }

  private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
