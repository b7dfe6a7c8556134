/// Bounds on a message head.
package struct HeadLimits: Sendable, Equatable {
  /// The whole head with its last CRLF, in bytes.
  package var headBytesMax: Int
  package var fieldCountMax: Int
  package var targetBytesMax: Int

  package init(headBytesMax: Int = 32_768, fieldCountMax: Int = 100, targetBytesMax: Int = 16_384) {
    self.headBytesMax = headBytesMax
    self.fieldCountMax = fieldCountMax
    self.targetBytesMax = targetBytesMax
  }

  /// The longest method accepted, in bytes.
  package static let methodBytesMax = 32
}

/// Why a message is refused. The text of `detail` is ours: nothing of the input is ever in it.
package enum HeadViolation: Error, Equatable, Sendable {
  // Lines
  case bareLineFeed, bareCarriageReturn, emptyStartLine, notHTTP, tlsHandshake, http2Preface, unterminated
  // Request line
  case requestLine, method, target, targetForm, targetPercentEncoding, version
  // Status line
  case statusLine, status
  // Fields
  case fieldName, whitespaceBeforeColon, foldedLine, missingColon, fieldValue
  case hostMissing, hostRepeated, hostInvalid, hostMismatch, connection, expectation
  // Framing
  case contentLength, contentLengthRepeated, contentLengthTooLarge, contentLengthWithTransferEncoding
  case transferEncoding, transferEncodingInHTTP10, contentNotAllowed
  // Bounds
  case headTooLarge, targetTooLong, tooManyFields

  /// One sentence for the person who sent it.
  package var detail: StaticString {
    switch self {
    case .bareLineFeed: "A line ends with LF alone; HTTP/1.1 lines end with CR LF."
    case .bareCarriageReturn: "A CR is not followed by LF."
    case .emptyStartLine: "The message begins with an empty line."
    case .notHTTP: "The message does not begin like an HTTP/1.1 message."
    case .tlsHandshake: "This port speaks plain HTTP, and a TLS handshake arrived: use an http:// address."
    case .http2Preface: "This port speaks HTTP/1.1, and an HTTP/2 connection was opened with prior knowledge."
    case .unterminated: "The head does not end with an empty line."
    case .requestLine: "The request line is not: method, one space, target, one space, version."
    case .method: "The method is not a token of at most 32 bytes."
    case .target: "The request target holds a space, a '#', a control or a non-ASCII byte."
    case .targetForm: "The request target does not have a form that fits the method."
    case .targetPercentEncoding: "A '%' in the path is not followed by two hexadecimal digits."
    case .version: "The version is neither HTTP/1.0 nor HTTP/1.1."
    case .statusLine: "The status line is not: version, one space, three digits, one space, reason."
    case .status: "The status code is outside 100 to 599."
    case .fieldName: "A field name is empty or is not a token."
    case .whitespaceBeforeColon: "There is whitespace between a field name and its colon."
    case .foldedLine: "A field value is folded over several lines."
    case .missingColon: "A field line has no colon."
    case .fieldValue: "A field value holds a control byte."
    case .hostMissing: "There is no Host field."
    case .hostRepeated: "There is more than one Host field."
    case .hostInvalid: "The Host field is not a host name or address with an optional port."
    case .hostMismatch: "The Host field and the authority in the request target differ."
    case .connection: "The Connection field is not a list of tokens."
    case .expectation: "The Expect field is not '100-continue'."
    case .contentLength: "The Content-Length field is not a decimal number."
    case .contentLengthRepeated: "There is more than one Content-Length."
    case .contentLengthTooLarge: "The Content-Length is 2^63 or more."
    case .contentLengthWithTransferEncoding: "There are both a Content-Length and a Transfer-Encoding."
    case .transferEncoding: "The Transfer-Encoding is not exactly 'chunked', once."
    case .transferEncodingInHTTP10: "An HTTP/1.0 message has a Transfer-Encoding."
    case .contentNotAllowed: "A message with this status code cannot have content, and it announces some."
    case .headTooLarge: "The head is too large."
    case .targetTooLong: "The request target is too long."
    case .tooManyFields: "There are too many fields."
    }
  }

  /// Whether a bound was passed rather than the grammar broken: 431 instead of 400.
  package var tooLarge: Bool {
    switch self {
    case .headTooLarge, .targetTooLong, .tooManyFields: true
    default: false
    }
  }
}
