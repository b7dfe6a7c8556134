import HTTPWire
import OAuth

/// Calls an authorization server for one client: keeps its nonces and its clock, and reports each call.
struct AuthorizationServerCaller: Sendable {
  /// For each send.
  static let timeout = Duration.seconds(10)

  let credential: String
  let nonces: NonceCells
  let environment: CredentialEnvironment

  /// How a call ended, with what has to be known to judge it.
  struct Answer: Sendable {
    let response: HTTPResponse
    /// The last answer gave a nonce that was not tried yet.
    let newNonceWasOffered: Bool
    /// The server's clock turned out to be another than the one the proof was dated by.
    let skewWasLearned: Bool
    /// It is the answer to the send after a nonce challenge.
    let followsChallenge: Bool
  }

  /// One call of an endpoint; a nonce challenge is answered within.
  ///
  /// - Parameter judge: makes of the answer what the call is for; its error is what the call is reported with.
  func call<R>(
    _ request: EndpointRequest, binding: TokenBinding, judge: (Answer) throws(FetchFailure) -> R
  ) async throws(FetchFailure) -> R {
    let started = environment.time.bootNanoseconds
    var call = EndpointCall(request, proofKey: binding.proofKey)
    var status: Int?
    var code: String?
    defer {
      report(.token, "POST", request.endpoint, status: status, since: started, attempts: call.sendCount, code: code)
    }
    do throws(FetchFailure) {
      let answer = try await answer(&call, request)
      status = answer.response.status
      return try judge(answer)
    } catch {
      code = error.code
      throw error
    }
  }

  private func answer(_ call: inout EndpointCall, _ request: EndpointRequest) async throws(FetchFailure) -> Answer {
    let origin = request.endpoint.origin
    let cell = nonces.authorizationServer(origin)
    let skew = environment.skews.skew(of: origin)
    while true {
      let send = cell.beginSend()
      let skewBefore = skew.seconds
      let made: HTTPRequest
      do {
        let now = skew.issuedAtUnixSeconds(wallNanoseconds: environment.time.wallNanoseconds)
        made = try call.send(nonce: send.nonce, issuedAtUnixSeconds: now)
      } catch {
        throw FetchFailure(error)
      }
      let response = try await exchange(made).mapError { FetchFailure($0) }.get()
      receiveNonce(of: response, for: send, in: cell)
      if call.judge(response) == .final {
        return Answer(
          response: response, newNonceWasOffered: call.newNonceWasOffered, skewWasLearned: skew.seconds != skewBefore,
          followsChallenge: call.sendCount > 1)
      }
    }
  }

  private func receiveNonce(of response: HTTPResponse, for send: NonceSend, in cell: NonceCell) {
    guard let nonce = EndpointCall.nonce(of: response) else { return }
    nonce.bytes.withUnsafeBytes {
      _ = cell.receive($0, for: send, isChallenge: EndpointCall.demandsNonce(response))
    }
  }

  /// One request for metadata.
  func fetchMetadata(_ request: HTTPRequest) async -> Result<HTTPResponse, HTTPSendFailure> {
    let started = environment.time.bootNanoseconds
    let result = await exchange(request)
    switch result {
    case .failure(let failure):
      report(.discovery, "GET", request.url, status: nil, since: started, attempts: 1, code: failure.code)
    case .success(let response):
      let code = response.status == 200 ? nil : "http_\(response.status)"
      report(.discovery, "GET", request.url, status: response.status, since: started, attempts: 1, code: code)
    }
    return result
  }

  /// Sends once, and learns the server's clock from the answer.
  private func exchange(_ request: HTTPRequest) async -> Result<HTTPResponse, HTTPSendFailure> {
    let time = environment.time
    let sent = time.bootNanoseconds
    do throws(HTTPSendFailure) {
      let response = try await environment.http.send(request, timeout: Self.timeout)
      let wall = time.wallNanoseconds
      if response.values(of: "Age").isEmpty, let text = response.onlyValue(of: "Date"),
        let date = HTTPDate.parse(text, nowUnixSeconds: wall / 1_000_000_000)
      {
        environment.skews.skew(of: request.url.origin).observe(
          ClockSample(
            dateUnixSeconds: date, roundTripNanoseconds: time.bootNanoseconds - sent, receivedWallNanoseconds: wall))
      }
      return .success(response)
    } catch {
      return .failure(error)
    }
  }

  private func report(
    _ step: OAuthEvent.Step, _ method: String, _ url: HTTPURL, status: Int?, since started: Int64, attempts: Int,
    code: String?
  ) {
    environment.events(
      OAuthEvent(
        credential: credential, step: step, method: method, url: url.description, status: status,
        durationNanoseconds: environment.time.bootNanoseconds - started, attempts: attempts, errorCode: code))
  }
}
