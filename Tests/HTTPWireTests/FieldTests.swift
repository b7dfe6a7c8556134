import HTTPWire
import Testing

struct FieldTests {
  static let names: [(String, FieldID)] = [
    ("Host", .host), ("Connection", .connection), ("Content-Length", .contentLength),
    ("Transfer-Encoding", .transferEncoding), ("TE", .te), ("Trailer", .trailer), ("Upgrade", .upgrade),
    ("Keep-Alive", .keepAlive), ("Expect", .expect), ("Via", .via), ("Proxy-Connection", .proxyConnection),
    ("Proxy-Authorization", .proxyAuthorization), ("Proxy-Authenticate", .proxyAuthenticate),
    ("Proxy-Authentication-Info", .proxyAuthenticationInfo), ("Authorization", .authorization), ("DPoP", .dpop),
    ("DPoP-Nonce", .dpopNonce), ("WWW-Authenticate", .wwwAuthenticate), ("Authentication-Info", .authenticationInfo),
    ("Origin", .origin), ("Referer", .referer), ("Sec-Fetch-Site", .secFetchSite), ("Sec-Fetch-Mode", .secFetchMode),
    ("Sec-Fetch-Dest", .secFetchDest), ("User-Agent", .userAgent), ("Forwarded", .forwarded),
    ("X-Forwarded-For", .xForwarded), ("X-Forwarded-", .xForwarded), ("Proofd-Error", .proofd), ("Proofd-", .proofd),
    ("Access-Control-Allow-Origin", .accessControl), ("Accept", .accept), ("Accept-Encoding", .acceptEncoding),
    ("Content-Type", .contentType), ("Content-Encoding", .contentEncoding), ("Content-Location", .contentLocation),
    ("Content-Range", .contentRange), ("Range", .range), ("Cookie", .cookie), ("Set-Cookie", .setCookie),
    ("Date", .date), ("Location", .location), ("Refresh", .refresh), ("Retry-After", .retryAfter),
    ("Cache-Control", .cacheControl), ("Server", .server),
  ]

  private func id(_ name: String) -> FieldID {
    latin1(name).withUnsafeBytes { FieldID(name: $0) }
  }

  @Test(arguments: names)
  func `a field name is recognised in any case and in no other spelling`(_ name: String, _ expected: FieldID) {
    for spelling in [name, name.lowercased(), name.uppercased()] { #expect(id(spelling) == expected) }
    guard !name.hasSuffix("-"), ![.xForwarded, .proofd, .accessControl].contains(expected) else { return }
    #expect(id(name + "s") == .other)
    #expect(id(String(name.dropLast())) != expected)
    for index in name.indices {
      for replacement in ["!", "_", "~", "0", "^"] {
        #expect(id(name.replacingCharacters(index, replacement)) != expected)
      }
    }
  }

  @Test func `unknown names are other`() {
    for name in ["", "X", "X-Foo", "X_Forwarded_For", "Forward", "Proofds", "DPoP-Nonces", "Content_Length"] {
      #expect(id(name) == .other)
    }
  }

  @Test(arguments: [
    ("X-Forwarded-For2", false), ("X_A", true), ("a-b.c", true), ("a", false), ("long-enough-name_", true),
    ("~23456789", true), ("-", false),
  ])
  func `a table knows of names with other bytes than letters, digits and hyphens`(name: String, isUnusual: Bool) throws
  {
    let fields = FieldTable(capacity: 8)
    for head in ["GET / HTTP/1.1\r\n\(name): 1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\(name):\r\n\r\n"] {
      _ = try latin1(head).withUnsafeBytes { try RequestHead.parse($0, limits: HeadLimits(), fields: fields).get() }
      #expect(fields.hasUnusualNames == isUnusual)
    }
    _ = try latin1("GET / HTTP/1.1\r\nHost: a_b\r\n\r\n").withUnsafeBytes {
      try RequestHead.parse($0, limits: HeadLimits(), fields: fields).get()
    }
    #expect(!fields.hasUnusualNames)
    let folded = latin1(name).withUnsafeBytes { FoldedName.withFolded($0) { text($0) } }
    #expect(folded.lowercased() == String(decoding: FoldedName.bytes(name), as: UTF8.self))
    #expect((folded == name) == !isUnusual)
  }

  @Test func `a comma list yields its members without whitespace and empty ones`() {
    latin1(" ,close,\t X-Foo ,, b\t").withUnsafeBytes { bytes in
      #expect(CommaList(bytes).map { text($0) } == ["close", "X-Foo", "b"])
      #expect(CommaList(bytes).contains(caseInsensitively: "x-foo"))
      #expect(!CommaList(bytes).contains(caseInsensitively: "foo"))
    }
    latin1(" , ,").withUnsafeBytes { #expect(CommaList($0).map { text($0) }.isEmpty) }
    #expect(CommaList(UnsafeRawBufferPointer(start: nil, count: 0)).map { text($0) }.isEmpty)
  }

  @Test func `a field that any Connection line lists is found`() throws {
    let fields = FieldTable(capacity: 8)
    let head =
      "GET / HTTP/1.1\r\nHost: a\r\nConnection: close, x-foo\r\nX-Foo: 1\r\nConnection: DPoP\r\nX-Fo: 2\r\n\r\n"
    try latin1(head).withUnsafeBytes { head in
      let request = try RequestHead.parse(head, limits: HeadLimits(), fields: fields).get()
      #expect(request.connectionNamesFields)
      let listed = (0..<fields.count).filter { fields.isConnectionOption(head[fields[$0].name], in: head) }
      #expect(listed.map { text(head[fields[$0].name]) } == ["X-Foo"])
      #expect(latin1("dpop").withUnsafeBytes { fields.isConnectionOption($0, in: head) })
      #expect(fields.firstIndex(of: .connection) == 1)
      #expect(fields.firstIndex(of: .connection, from: 2) == 3)
      #expect(fields.firstIndex(of: .date) == nil)
      #expect(fields.count(of: .connection) == 2)
      #expect(fields.values(of: .connection, in: head) == ["close, x-foo", "DPoP"])
    }
  }

  @Test func `bytes are compared without regard to the case of letters alone`() {
    latin1("Chunked-@[").withUnsafeBytes { bytes in
      #expect(bytes.bytes(equalCaseInsensitively: "cHUNKED-@["))
      #expect(!bytes.bytes(equalCaseInsensitively: "chunked-`{"))
      #expect(!bytes.bytes(equalCaseInsensitively: "chunked"))
      #expect(bytes.bytes(startCaseInsensitivelyWith: "CHUNK"))
      #expect(bytes.bytes(equal: "Chunked-@["))
      #expect(!bytes.bytes(equal: "chunked-@["))
    }
  }
}

extension String {
  fileprivate func replacingCharacters(_ index: Index, _ replacement: String) -> String {
    self[..<index] + replacement + self[self.index(after: index)...]
  }
}
