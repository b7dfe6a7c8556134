import HTTPWire

/// Writes one answer to one request, whole or spoiled.
struct AnswerWriter {
  static let pieceBytes = 16_384

  let connection: BlockingConnection
  /// nil if the request had no readable head.
  let request: ReceivedHead?
  let date: String
  var spoiling = Spoiling()

  /// - Returns: whether the connection can carry another request; false also after it was cut, as `spoiling` wants it.
  func write(_ answer: Answer) throws(ConnectionFailure) -> Bool {
    let framing = framing(of: answer)
    let closes = answer.closes || framing == .close || request?.isPersistent != true
    var output = Output(connection: connection, pace: spoiling.pace)
    let head = head(of: answer, framing: framing, closes: closes)
    if let bytes = spoiling.cutHeadAtByte {
      try output.append(Array(head.prefix(bytes)))
      try output.flush()
      return false
    }
    try output.append(head)
    let intact = framing == .none ? true : try write(answer, framing, to: &output)
    try output.flush()
    return intact && !closes && spoiling.declaredExcess == 0
  }

  private enum Framing: Equatable { case none, length(UInt64), chunked, close }

  /// RFC 9112 §6.1, §6.3: what has no body by its status says nothing about one.
  private func framing(of answer: Answer) -> Framing {
    if answer.status < 200 || answer.status == 204 || answer.status == 304 { return .none }
    switch (answer.encoding ?? .contentLength, answer.body.byteCount, request?.minorVersion ?? 1) {
    case (.closeDelimited, _, _), (.chunked, _, 0), (_, nil, 0): return .close
    case (.chunked, _, _), (_, nil, _): return .chunked
    case (.contentLength, let count?, _): return .length(count + UInt64(spoiling.declaredExcess))
    }
  }

  private func head(of answer: Answer, framing: Framing, closes: Bool) -> [UInt8] {
    var text = "HTTP/1.1 \(answer.status) \(ReasonPhrase.of(answer.status))\r\n"
    if answer.status >= 200 { text += "Date: \(date)\r\n" }
    for field in answer.fields { text += "\(field.name): \(field.value)\r\n" }
    switch framing {
    case .length(let count): text += "Content-Length: \(count)\r\n"
    case .chunked: text += "Transfer-Encoding: chunked\r\n"
    case .none, .close: break
    }
    if closes, answer.status >= 200 { text += "Connection: close\r\n" }
    return Array("\(text)\r\n".utf8)
  }

  /// - Returns: false if the body was cut short.
  private func write(_ answer: Answer, _ framing: Framing, to output: inout Output) throws(ConnectionFailure) -> Bool {
    if request?.method == "HEAD" { return true }
    var rest = spoiling.cutBodyAtByte ?? .max
    for piece in AnswerPieces(of: answer.body, pieceBytes: Self.pieceBytes) {
      if piece.pauseMilliseconds > 0 {
        try output.flush()
        try connection.pause(milliseconds: piece.pauseMilliseconds)
      }
      let sent = rest < UInt64(piece.bytes.count) ? Array(piece.bytes.prefix(Int(rest))) : piece.bytes
      if framing == .chunked { try output.append(Array("\(String(piece.bytes.count, radix: 16))\r\n".utf8)) }
      try output.append(sent)
      guard sent.count == piece.bytes.count else { return false }
      if framing == .chunked { try output.append([13, 10]) }
      rest -= UInt64(sent.count)
    }
    guard framing == .chunked else { return true }
    if spoiling.omitsLastChunk { return false }
    let trailers = answer.trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
    try output.append(Array("0\r\n\(trailers)\r\n".utf8))
    return true
  }
}

/// What goes wrong while an answer is written.
struct Spoiling: Sendable {
  var cutHeadAtByte: Int?
  var cutBodyAtByte: UInt64?
  /// How many bytes `Content-Length` promises that never come.
  var declaredExcess = 0
  var omitsLastChunk = false
  var pace: Pace?
}

/// Writes small pieces with pauses between them.
package struct Pace: Sendable, Equatable {
  package var bytes: Int
  package var pauseMilliseconds: Int

  package init(bytes: Int, pauseMilliseconds: Int) {
    self.bytes = max(1, bytes)
    self.pauseMilliseconds = pauseMilliseconds
  }
}

/// Gathers small writes, so that a head and a small body travel in one segment, unless a pace is set.
private struct Output {
  let connection: BlockingConnection
  let pace: Pace?
  private var pending: [UInt8] = []

  init(connection: BlockingConnection, pace: Pace?) {
    self.connection = connection
    self.pace = pace
  }

  mutating func append(_ bytes: [UInt8]) throws(ConnectionFailure) {
    pending += bytes
    if pending.count >= 65_536 { try flush() }
  }

  mutating func flush() throws(ConnectionFailure) {
    let bytes = pending
    pending.removeAll(keepingCapacity: true)
    guard let pace else { return try connection.write(bytes) }
    var rest = bytes[...]
    while !rest.isEmpty {
      try connection.write(Array(rest.prefix(pace.bytes)))
      rest = rest.dropFirst(pace.bytes)
      if !rest.isEmpty { try connection.pause(milliseconds: pace.pauseMilliseconds) }
    }
  }
}
