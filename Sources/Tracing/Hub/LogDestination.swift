/// Where finished lines go.
package enum LogDestination: Sendable, Equatable {
  case standardError
  /// Appended to; made with mode 0600 if it is not there.
  case file(path: String)
  /// An open descriptor, which stays the caller's. For tests and for callers that were handed a pipe.
  case descriptor(Int32)
  /// Only the ring and the subscribers see the lines.
  case nowhere
}
