import HTTPWire

/// A request of the admin API that can be answered: a value that exists names a resource and a method it has.
struct AdminRequest: Equatable {
  enum Resource: Equatable {
    case status
    case routes
    case records(RecordsQuery)
  }

  let resource: Resource
  /// The method is HEAD: the answer has no body. RFC 9110 §9.3.2
  let headOnly: Bool
  /// The connection can serve another request after this one.
  let keepsAlive: Bool

  /// `Host` says nothing on a UNIX socket and is not looked at.
  init(_ head: RequestHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable) throws(AdminProblem) {
    // Programs send no Origin; a page that found a way to the socket would.
    if fields.firstIndex(of: .origin) != nil { throw .crossSiteRefused }
    let (path, query) = try Self.target(head, bytes)
    let isRecords = path.bytes(equal: "/v1/records")
    let isKnown = isRecords || path.bytes(equal: "/v1/status") || path.bytes(equal: "/v1/routes")
    guard isKnown else { throw .notFound }
    guard head.knownMethod == .get || head.knownMethod == .head else { throw .methodNotAllowed }
    headOnly = head.knownMethod == .head
    keepsAlive = head.keepsAlive
    if isRecords {
      resource = .records(try RecordsQuery(query, wantsArray: Self.asksForJSON(fields, bytes)))
    } else {
      guard query.isEmpty else { throw .badParameter("This resource has no parameters.") }
      resource = path.bytes(equal: "/v1/status") ? .status : .routes
    }
  }

  private static func target(
    _ head: RequestHead, _ bytes: UnsafeRawBufferPointer
  ) throws(AdminProblem) -> (path: UnsafeRawBufferPointer, query: [(String, String)]) {
    switch RequestTarget.parse(bytes, of: head) {
    case .failure(let violation): throw .badRequest("\(violation.detail)")
    case .success(.origin(let path, let query)), .success(.absolute(_, _, let path, let query)):
      guard let query else { return (bytes[path], []) }
      guard let pairs = FormURLEncoded.decode(Array(bytes[query])) else {
        throw .badParameter("The query is not a list of encoded parameters.")
      }
      return (bytes[path], pairs)
    case .success: throw .notFound
    }
  }

  /// Whether `application/json` is asked for by name; lines are the default.
  private static func asksForJSON(_ fields: FieldTable, _ bytes: UnsafeRawBufferPointer) -> Bool {
    fields.values(of: .accept, in: bytes).contains { value in
      value.split(separator: ",").contains { range in
        let name = range.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        return ASCII.equalCaseInsensitively(name, "application/json")
      }
    }
  }
}

extension RequestHead {
  /// Content is not waited for, so a request that has some is the connection's last.
  var keepsAlive: Bool { persistent && (framing == .none || framing == .length(0)) }
}
