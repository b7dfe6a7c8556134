import Glibc

/// What the system said when it refused something to a socket.
package struct SocketError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The system call.
  package let call: String
  /// The value of errno.
  package let code: Int32

  package init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  package var isAddressInUse: Bool { code == EADDRINUSE }
  package var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }

  package var description: String { "\(call): \(String(cString: strerror(code)))" }
}
