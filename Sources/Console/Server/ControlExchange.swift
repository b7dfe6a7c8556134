import EventLoop
import HTTPTransport
import HTTPWire

/// Serves the requests of one connection of the control socket.
final class ControlExchange: ServerConnectionHandler {
  private let sources: ControlSources
  /// The peer runs as our own user.
  private let isKnown: Bool
  private var stream: RecordStream?
  /// The request whose content is on its way.
  private var pending: (request: AdminRequest, content: [UInt8])?
  /// The request a task makes the answer of.
  private var answering: (request: AdminRequest, connection: ServerConnection)?

  init(sources: ControlSources, isKnown: Bool) {
    self.sources = sources
    self.isKnown = isKnown
  }

  func connection(
    _ connection: ServerConnection, received head: RequestHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable
  ) {
    guard isKnown else { return refuse(connection, .callerUnknown) }
    do throws(AdminProblem) {
      let request = try AdminRequest(head, in: bytes, fields: fields)
      guard request.hasContent else { return serve(request, on: connection, chunked: head.minorVersion == 1) }
      pending = (request, [])
      if head.expectsContinue { connection.respondInterim("HTTP/1.1 100 Continue\r\n\r\n") }
    } catch {
      respond(connection, error.answer, headOnly: head.knownMethod == .head, keepAlive: head.keepsAlive)
    }
  }

  private func serve(_ request: AdminRequest, on connection: ServerConnection, chunked: Bool) {
    let answer: AdminAnswer
    switch request.resource {
    case .status: answer = AdminAnswer(sources.status())
    case .routes: answer = AdminAnswer(sources.routes())
    case .records(let query) where query.follows:
      return follow(query, on: connection, headOnly: request.headOnly, chunked: chunked)
    case .records(let query):
      let lines = sources.hub.lastLines(query.last)
      answer =
        query.wantsArray
        ? AdminAnswer(contentType: "application/json", body: RecordLines.array(lines))
        : AdminAnswer(contentType: "application/x-ndjson", body: lines)
    case .account(let resource): return perform(request, resource, content: [], on: connection)
    }
    respond(connection, answer, headOnly: request.headOnly, keepAlive: request.keepsAlive)
  }

  /// The answer comes later, from a task that a client who leaves does not end: what was asked for is done.
  private func perform(
    _ request: AdminRequest, _ resource: AccountResource, content: [UInt8], on connection: ServerConnection
  ) {
    guard let accounts = sources.accounts else {
      return respond(
        connection, AdminProblem.notFound.answer, headOnly: request.headOnly, keepAlive: request.keepsAlive)
    }
    answering = (request, connection)
    let exchange = LoopBound(self, on: connection.loop)
    Task {
      let answer = await accounts.answer(request.method, resource, content)
      exchange.post { $0.answered(answer) }
    }
  }

  private func answered(_ answer: AdminAnswer) {
    guard let (request, connection) = answering else { return }
    answering = nil
    respond(connection, answer, headOnly: request.headOnly, keepAlive: request.keepsAlive)
  }

  private func follow(_ query: RecordsQuery, on connection: ServerConnection, headOnly: Bool, chunked: Bool) {
    guard headOnly else {
      let stream = RecordStream(connection, hub: sources.hub, last: query.last, chunked: chunked)
      if connection.isClosed { stream.cancel() } else { self.stream = stream }
      return
    }
    connection.respond { AdminAnswer.appendStreamHead(contentType: "text/event-stream", chunked: chunked, to: &$0) }
    connection.finishResponse(keepAlive: chunked)
  }

  private func respond(_ connection: ServerConnection, _ answer: AdminAnswer, headOnly: Bool, keepAlive: Bool) {
    connection.respond { answer.appendHead(to: &$0, keepAlive: keepAlive) }
    if !headOnly { answer.body.withUnsafeBytes { _ = connection.respond($0) } }
    connection.finishResponse(keepAlive: keepAlive)
  }

  private func refuse(_ connection: ServerConnection, _ problem: AdminProblem) {
    pending = nil
    guard stream == nil else { return connection.abort() }
    respond(connection, problem.answer, headOnly: false, keepAlive: false)
  }

  /// Ends the live answer, if there is one.
  func finish() {
    stream?.finish()
    stream = nil
  }

  func connection(_ connection: ServerConnection, violated violation: HeadViolation) {
    refuse(connection, violation.tooLarge ? .headTooLarge("\(violation.detail)") : .badRequest("\(violation.detail)"))
  }

  func connection(_ connection: ServerConnection, violated violation: ChunkViolation) {
    refuse(connection, .badRequest("\(violation.detail)"))
  }

  func connectionTimedOut(_ connection: ServerConnection) { refuse(connection, .requestTimeout) }

  /// Content nobody waits for is read and thrown away.
  func connection(_ connection: ServerConnection, receivedBody bytes: UnsafeRawBufferPointer) {
    guard let count = pending?.content.count else { return }
    guard count + bytes.count <= AccountAPI.contentBytesMax else { return refuse(connection, .contentTooLarge) }
    pending?.content.append(contentsOf: bytes)
  }

  func connection(
    _ connection: ServerConnection, receivedTrailers bytes: UnsafeRawBufferPointer, fields: FieldTable
  ) {}

  func connectionReceivedEnd(_ connection: ServerConnection) {
    guard let (request, content) = pending, case .account(let resource) = request.resource else { return }
    pending = nil
    perform(request, resource, content: content, on: connection)
  }

  func connectionDrained(_ connection: ServerConnection) { stream?.drained() }
  func connectionDelivered(_ connection: ServerConnection) {}

  func connectionClosed(_ connection: ServerConnection) {
    (pending, answering) = (nil, nil)
    stream?.cancel()
    stream = nil
  }
}
