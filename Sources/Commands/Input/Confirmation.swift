/// A question that is answered with yes or no.
enum Confirmation {
  /// Anything but `y` and `yes` is no.
  static func ask(_ question: String, _ terminal: Terminal) throws(CommandFailure) -> Bool {
    terminal.ask("\(question) [y/N] ")
    return ["y", "yes"].contains(readLine()?.lowercased() ?? "")
  }
}
