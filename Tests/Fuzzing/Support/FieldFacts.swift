import HTTPWire

/// What the field lines of a head say, read line by line with `Grammar`.
struct FieldFacts: Equatable {
  struct Line: Equatable, CustomStringConvertible {
    var name: Bytes
    /// Without the whitespace around it.
    var value: Bytes

    var description: String { text(name + Bytes(": ".utf8) + value) }
  }

  var lines: [Line] = []

  init() {}

  /// Nil when a line is no field line. RFC 9112 §5
  init?(_ text: some Collection<Bytes>) {
    for line in text {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), Grammar.isToken(line[..<colon]) else { return nil }
      let value = Grammar.trimmed(line[(colon + 1)...])
      guard Grammar.isFieldValue(value) else { return nil }
      lines.append(Line(name: Array(line[..<colon]), value: value))
    }
  }

  /// What a parser has put into `table`.
  init(_ table: FieldTable, in head: UnsafeRawBufferPointer) {
    lines = (0..<table.count).map {
      Line(name: Array(head[table[$0].name]), value: Array(head[table[$0].value]))
    }
  }

  func values(of name: String) -> [Bytes] {
    lines.filter { Grammar.lowercased($0.name) == Array(name.utf8) }.map(\.value)
  }

  /// The members of all `Connection` fields in lower case; nil when one is no token. RFC 9110 §7.6.1
  var connectionOptions: [Bytes]? {
    let members = values(of: "connection").flatMap { $0.split(separator: UInt8(ascii: ",")) }
    let options = members.map { Grammar.lowercased(Grammar.trimmed($0)) }.filter { !$0.isEmpty }
    return options.allSatisfy { Grammar.isToken($0) } ? options : nil
  }

  func connectionLists(_ option: String) -> Bool { connectionOptions?.contains(Array(option.utf8)) == true }

  /// Whether `Connection` lists anything but its own three options.
  var connectionNamesFields: Bool {
    let own = ["close", "keep-alive", "upgrade"].map { Array($0.utf8) }
    return connectionOptions?.contains { !own.contains($0) } == true
  }

  /// RFC 9112 §9.3
  func isPersistent(minorVersion: UInt8) -> Bool {
    !connectionLists("close") && (minorVersion == 1 || connectionLists("keep-alive"))
  }

  /// RFC 9110 §7.8
  func asksToSwitch(minorVersion: UInt8) -> Bool {
    minorVersion == 1 && !values(of: "upgrade").isEmpty && connectionLists("upgrade")
  }

  /// How the message is framed: `.none` when the fields do not say. Nil when they could be read two ways. RFC 9112 §6.3
  func framing(minorVersion: UInt8) -> BodyFraming? {
    let codings = values(of: "transfer-encoding").map { Grammar.lowercased($0) }
    let lengths = values(of: "content-length")
    guard codings.count + lengths.count <= 1 else { return nil }
    if let coding = codings.first { return minorVersion == 1 && coding == Array("chunked".utf8) ? .chunked : nil }
    guard let digits = lengths.first else { return BodyFraming.none }
    guard let length = Grammar.length(digits) else { return nil }
    return .length(length)
  }

  /// What every head must keep to, whichever way it goes.
  func areLegal(_ limits: HeadLimits) -> Bool {
    let expectations = values(of: "expect").map { Grammar.lowercased($0) }
    return lines.count <= limits.fieldCountMax && values(of: "host").count <= 1 && connectionOptions != nil
      && (expectations.isEmpty || expectations == [Array("100-continue".utf8)])
  }

  /// The field lines again, each in its plainest form.
  var serialised: Bytes { lines.flatMap { $0.name + Bytes(": ".utf8) + $0.value + Bytes("\r\n".utf8) } }

  /// Holds the names a parser has recognised to their spelling, and `isConnectionOption` to the list.
  func checkTable(_ table: FieldTable, in head: UnsafeRawBufferPointer) {
    for (index, line) in lines.enumerated() {
      let name = Grammar.lowercased(line.name)
      for (id, spelling) in Self.spellings {
        check((table[index].id == id) == (name == Array(spelling.utf8)), "\(line) is recognised as \(table[index].id)")
      }
      let isListed = connectionOptions?.contains(name) == true
      check(table.isConnectionOption(head[table[index].name], in: head), equals: isListed, "\(line) is listed")
      let colon = Int(table[index].name.start) + line.name.count
      check(head[colon] == UInt8(ascii: ":"), "\(line) has no colon")
    }
  }

  private static let spellings: [(FieldID, String)] = [
    (.host, "host"), (.connection, "connection"), (.contentLength, "content-length"),
    (.transferEncoding, "transfer-encoding"), (.te, "te"), (.trailer, "trailer"), (.upgrade, "upgrade"),
    (.keepAlive, "keep-alive"), (.expect, "expect"), (.proxyConnection, "proxy-connection"),
    (.proxyAuthorization, "proxy-authorization"), (.proxyAuthenticate, "proxy-authenticate"),
    (.authorization, "authorization"), (.dpop, "dpop"), (.dpopNonce, "dpop-nonce"),
    (.wwwAuthenticate, "www-authenticate"), (.origin, "origin"), (.secFetchSite, "sec-fetch-site"),
    (.cookie, "cookie"), (.setCookie, "set-cookie"), (.location, "location"), (.forwarded, "forwarded"),
  ]
}
