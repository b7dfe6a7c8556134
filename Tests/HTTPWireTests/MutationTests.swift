import HTTPWire
import Testing

/// One to four random changes: a byte replaced, removed, repeated or inserted, a run copied to another place, the end cut.
func mutate(_ bytes: [UInt8], using random: inout SeededRandom) -> [UInt8] {
  let telling = latin1("\r\n \t:,;=\"\\/?#%+-.0129afxAFX\0\u{7F}\u{80}\u{FF}")
  var mutated = bytes
  for _ in 0..<Int.random(in: 1...4, using: &random) {
    let at = Int.random(in: 0...mutated.count, using: &random)
    let byte =
      Bool.random(using: &random)
      ? telling.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...255, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0 where at < mutated.count: mutated[at] = byte
    case 1 where at < mutated.count: mutated.remove(at: at)
    case 2: mutated.insert(byte, at: at)
    case 3:
      let end = Int.random(in: at...mutated.count, using: &random)
      let run = Array(mutated[at..<min(end, at + 40)])
      mutated.insert(contentsOf: run, at: Int.random(in: 0...mutated.count, using: &random))
    case 4 where at < mutated.count: mutated[at] ^= 0x20
    case 5: mutated.removeLast(min(mutated.count, Int.random(in: 0...3, using: &random)))
    default: break
    }
  }
  return mutated
}

struct MutationTests {
  static let requests = [
    "GET /orders?page=2 HTTP/1.1\r\nHost: 127.0.0.1:9449\r\nConnection: keep-alive, X-Foo\r\nAccept: */*\r\n\r\n",
    "POST /a%2Fb HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n",
    "PUT http://a.b:81/x?y HTTP/1.1\r\nHost: a.b:81\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n\r\n",
    "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "GET / HTTP/1.0\r\nConnection: keep-alive\r\nX:\r\n\r\n",
  ].map(latin1)

  static let responses = [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\nDPoP-Nonce: abc\r\n\r\n",
    "HTTP/1.1 401 Unauthorized\r\nTransfer-Encoding: chunked\r\nWWW-Authenticate: DPoP error=\"x\"\r\n\r\n",
    "HTTP/1.0 304 \r\nContent-Length: 9\r\n\r\n",
    "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    "HTTP/1.1 204\r\n\r\n",
  ].map(latin1)

  static let bodies = [
    "5\r\nhello\r\n1A;x=y\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n",
    "0001 ; a=\"b\"\r\nx\r\n0\r\nTrailer: 1\r\nX:\r\n\r\n",
  ].map(latin1)

  /// What must hold for any head that is accepted.
  private func check(_ fields: FieldTable, _ head: UnsafeRawBufferPointer) -> Bool {
    (0..<fields.count).allSatisfy { index in
      let field = fields[index]
      let name = head[field.name]
      let value = head[field.value]
      return !name.isEmpty && name.allSatisfy(ASCII.isTokenByte) && value.allSatisfy(ASCII.isFieldValueByte)
        && head[Int(field.name.start) + name.count] == UInt8(ascii: ":")
    }
  }

  @Test func `mutated request heads never trap and what is accepted is well-formed`() {
    var random = SeededRandom(seed: 9_112)
    let fields = FieldTable(capacity: 128)
    let limits = HeadLimits()
    var accepted = 0
    for round in 0..<100_000 {
      let bytes = mutate(Self.requests[round % Self.requests.count], using: &random)
      let isWellFormed: Bool? = bytes.withUnsafeBytes { bytes in
        // Both the head that was found and the raw bytes: the parser may not rely on the search.
        _ = RequestHead.parse(bytes, limits: limits, fields: fields)
        var scanned = 0
        guard case .end(let headBytes) = HeadBoundary.find(bytes, scanned: &scanned) else { return nil }
        let head = bytes.slice(0..<headBytes)
        guard case .success(let request) = RequestHead.parse(head, limits: limits, fields: fields) else { return nil }
        if case .success(.origin(let path, _)) = RequestTarget.parse(head, of: request) {
          _ = DotSegments.isPresent(in: head[path])
        }
        let names = (0..<fields.count).map { fields[$0].id }
        let lengths = names.count { $0 == .contentLength }
        let codings = names.count { $0 == .transferEncoding }
        let framed =
          switch request.framing {
          case .none: lengths == 0 && codings == 0
          case .length: lengths == 1 && codings == 0
          case .chunked: lengths == 0 && codings == 1
          case .untilClose: false
          }
        return framed && check(fields, head) && names.count { $0 == .host } <= 1
      }
      if isWellFormed != nil { accepted += 1 }
      #expect(isWellFormed != false)
    }
    #expect(accepted > 5_000)
  }

  @Test func `mutated response heads never trap and what is accepted is well-formed`() {
    var random = SeededRandom(seed: 9_110)
    let fields = FieldTable(capacity: 128)
    let limits = HeadLimits()
    var accepted = 0
    for round in 0..<100_000 {
      let bytes = mutate(Self.responses[round % Self.responses.count], using: &random)
      let isWellFormed: Bool? = bytes.withUnsafeBytes { bytes in
        _ = ResponseHead.parse(bytes, limits: limits, fields: fields, requestMethodIsHEAD: true)
        var scanned = 0
        guard case .end(let headBytes) = HeadBoundary.find(bytes, scanned: &scanned) else { return nil }
        let head = bytes.slice(0..<headBytes)
        let result = ResponseHead.parse(head, limits: limits, fields: fields, requestMethodIsHEAD: false)
        guard case .success(let response) = result else { return nil }
        let lengths = (0..<fields.count).count { fields[$0].id == .contentLength }
        let isLimited = response.framing != .untilClose || !response.persistent
        return (100...599).contains(response.status) && lengths <= 1 && isLimited && check(fields, head)
      }
      if isWellFormed != nil { accepted += 1 }
      #expect(isWellFormed != false)
    }
    #expect(accepted > 5_000)
  }

  @Test func `mutated chunked bodies never trap and mean the same at every split`() {
    var random = SeededRandom(seed: 7_230)
    var accepted = 0
    for round in 0..<20_000 {
      let bytes = mutate(Self.bodies[round % Self.bodies.count], using: &random)
      let whole = ScannedBody(bytes)
      let cuts = (0..<3).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
      let split = ScannedBody(bytes, cuts: cuts)
      #expect(split.payload == whole.payload && split.violation == whole.violation)
      #expect((split.rest == nil) == (whole.rest == nil))
      if whole.rest != nil { accepted += 1 }
    }
    #expect(accepted > 500)
  }

  @Test func `mutated URLs never trap and are canonical when they are accepted`() throws {
    var random = SeededRandom(seed: 3_986)
    let seeds = ["https://api.example.com:8443/a%2Fb?c=d", "http://[2001:db8::192.0.2.1]:80/x", "http://127.0.0.1"]
    var accepted = 0
    for round in 0..<50_000 {
      let text = String(decoding: mutate(latin1(seeds[round % seeds.count]), using: &random), as: UTF8.self)
      do {
        let url = try HTTPURL(parsing: text)
        #expect(try HTTPURL(parsing: url.absoluteString) == url)
        #expect(url.absoluteString.utf8.allSatisfy { 0x21...0x7E ~= $0 })
        accepted += 1
      } catch {
        #expect(!"\(error.detail)".isEmpty)
      }
    }
    #expect(accepted > 2_000)
  }
}
