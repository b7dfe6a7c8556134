package import HTTPWire

/// A response before it is written.
package struct Answer: Sendable, Equatable {
  package var status: Int
  package var fields: [HTTPField] = []
  package var body: AnswerBody = .bytes([])
  /// nil: as the listener's settings say.
  package var encoding: BodyEncoding?
  /// Written after a chunked body only.
  package var trailers: [HTTPField] = []
  /// Whether the connection ends with this answer.
  package var closes = false
  /// How long the answer is held back.
  package var delayMilliseconds = 0

  package init(
    status: Int, fields: [HTTPField] = [], body: AnswerBody = .bytes([]), encoding: BodyEncoding? = nil,
    trailers: [HTTPField] = [], closes: Bool = false
  ) {
    self.status = status
    self.fields = fields
    self.body = body
    self.encoding = encoding
    self.trailers = trailers
    self.closes = closes
  }

  /// A short text for people.
  package static func text(_ status: Int, _ text: String, fields: [HTTPField] = []) -> Answer {
    Answer(
      status: status, fields: [HTTPField(name: "Content-Type", value: "text/plain; charset=utf-8")] + fields,
      body: .bytes(Array(text.utf8) + [UInt8(ascii: "\n")]))
  }

  static func json(_ status: Int, _ value: JSONValue, fields: [HTTPField] = []) -> Answer {
    Answer(
      status: status,
      fields: [
        HTTPField(name: "Content-Type", value: "application/json"), HTTPField(name: "Cache-Control", value: "no-store"),
      ] + fields,
      body: .bytes(value.serialised()))
  }

  func adding(_ more: [HTTPField]) -> Answer {
    var answer = self
    answer.fields += more
    return answer
  }
}

/// What a response body consists of.
package enum AnswerBody: Sendable, Equatable {
  case bytes([UInt8])
  /// So many bytes of a fixed pattern: byte i is i mod 251.
  case pattern(UInt64)
  /// So many server-sent events with a pause before each but the first. WHATWG HTML §9.2
  case events(count: Int, pauseMilliseconds: Int)

  /// nil if only the end of the stream tells.
  var byteCount: UInt64? {
    switch self {
    case .bytes(let bytes): UInt64(bytes.count)
    case .pattern(let count): count
    case .events: nil
    }
  }
}

/// How the end of a response body is told. RFC 9112 §6
package enum BodyEncoding: String, Sendable, CaseIterable {
  case contentLength = "content-length"
  case chunked
  case closeDelimited = "close"
}
