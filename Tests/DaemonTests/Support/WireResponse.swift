import HTTPWire

/// A response as it came over the wire.
struct WireResponse: Sendable {
  var status: Int
  /// In order, with the sender's spelling.
  var fields: [HTTPField] = []
  var body: [UInt8] = []
  /// The lines behind a chunked body.
  var trailers: [String] = []
  /// The 1xx responses before it.
  var interim: [Int] = []
  /// The head's bytes, to search for what must not be in them.
  var head = ""

  func values(of name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  var text: String { String(decoding: body, as: UTF8.self) }
  /// Null if the body is no JSON, which then fails whatever is expected of it.
  var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
  /// What the gateway calls its own answers by; nil for an upstream's.
  var code: String? { values(of: "proofd-error").first }
}

/// Why there is no whole response.
enum WireFailure: Error, Equatable {
  /// The gateway ended the connection in order before a first byte.
  case closed
  /// It broke the connection off.
  case reset
  /// It ended in order, but in the middle.
  case truncated
  case malformed
  case timedOut
}
