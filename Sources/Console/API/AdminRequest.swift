import HTTPWire

/// A request of the admin API that can be answered, as soon as its content is there: a value that exists names a resource
/// and a method it has.
struct AdminRequest: Equatable {
  enum Resource: Equatable {
    case status
    case routes
    case records(RecordsQuery)
    case account(AccountResource)
  }

  let resource: Resource
  let method: AdminMethod
  /// The connection can serve another request after this one.
  let keepsAlive: Bool
  /// Content follows, and says what is wanted.
  let hasContent: Bool

  /// The answer has no body. RFC 9110 §9.3.2
  var headOnly: Bool { method == .head }

  /// `Host` says nothing on a UNIX socket and is not looked at.
  init(_ head: RequestHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable) throws(AdminProblem) {
    // Programs send no Origin; a page that found a way to the socket would.
    if fields.firstIndex(of: .origin) != nil { throw .crossSiteRefused }
    let (path, query) = try Self.target(head, bytes)
    let methodName = String(decoding: bytes[head.method], as: UTF8.self)
    if path.bytes(equal: "/v1/records") {
      method = try Self.reading(methodName)
      resource = .records(try RecordsQuery(query, wantsArray: Self.asksForJSON(fields, bytes)))
    } else if let account = AccountResource(path: String(decoding: path, as: UTF8.self)) {
      method = try account.checking(methodName)
      resource = .account(account)
    } else {
      let isStatus = path.bytes(equal: "/v1/status")
      guard isStatus || path.bytes(equal: "/v1/routes") else { throw .notFound }
      method = try Self.reading(methodName)
      resource = isStatus ? .status : .routes
    }
    if !path.bytes(equal: "/v1/records"), !query.isEmpty { throw .badParameter("This resource has no parameters.") }
    hasContent = method.takesContent && !head.framing.isEmpty
    if hasContent { try Self.checkContent(head, fields, bytes) }
    // Content without a meaning is not waited for.
    keepsAlive = head.persistent && (hasContent || head.framing.isEmpty)
  }

  private static func reading(_ method: String) throws(AdminProblem) -> AdminMethod {
    guard let method = AdminMethod(rawValue: method), AdminMethod.reading.contains(method) else {
      throw .methodNotAllowed(allow: AdminMethod.reading)
    }
    return method
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

  /// What can be said of content before it comes.
  private static func checkContent(
    _ head: RequestHead, _ fields: FieldTable, _ bytes: UnsafeRawBufferPointer
  ) throws(AdminProblem) {
    let types = fields.values(of: .contentType, in: bytes)
    guard types.count == 1, isJSON(types[0][...]) else { throw .contentNotJSON }
    if case .length(let count) = head.framing, count > UInt64(AccountAPI.contentBytesMax) { throw .contentTooLarge }
  }

  /// Whether `application/json` is asked for by name; lines are the default.
  private static func asksForJSON(_ fields: FieldTable, _ bytes: UnsafeRawBufferPointer) -> Bool {
    fields.values(of: .accept, in: bytes).contains { value in value.split(separator: ",").contains(where: isJSON) }
  }

  /// A media type with or without parameters. RFC 9110 §8.3.1
  private static func isJSON(_ type: Substring) -> Bool {
    let name = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
    return ASCII.equalCaseInsensitively(name, "application/json")
  }
}

extension RequestHead {
  /// For a request that is refused: what follows it is not waited for.
  var keepsAlive: Bool { persistent && framing.isEmpty }
}
