import EventLoop
import HTTPWire

extension RecordHub {
  /// Writes a line that is about no exchange, from any thread. What is held secret is masked in it as in any other.
  ///
  /// - Parameter members: what the line has besides `time`, `id` and `event`, in order.
  package func appendNotice(event: String, _ members: [(name: String, value: String)]) {
    let own = [("time", Timestamp.text(SystemTime().wallNanoseconds)), ("id", nextID().description), ("event", event)]
    let line = JSONValue.object((own + members).map { ($0.0, .string($0.1)) }).serialised()
    submit(LineBatch(bytes: line + [ASCII.lineFeed], lineCount: 1))
  }
}
