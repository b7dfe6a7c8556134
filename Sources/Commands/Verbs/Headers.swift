import HTTPWire

extension Verb {
  static let headers = Verb(
    name: "headers", summary: "print the header lines of one request, for scripts",
    about: """
      Authorization and, for a DPoP credential, a fresh proof for exactly this method and URL, to be used once and soon.
      Only of a credential with `allow_export: true`. Works with and without a daemon. Exit code 3 if a login or an unlock
      is needed.
      """,
    options: [
      Option(name: "--method", value: "METHOD", help: "the method of the request (default GET)"),
      Option(name: "--url", value: "URL", help: "the URL of the request"),
    ] + TokenOptions.all,
    operands: [Operand(name: "NAME")],
    examples: [
      (
        "proofd headers acme --url https://api.example.com/v1/orders | curl -H @- https://api.example.com/v1/orders",
        "one request without the gateway"
      ),
      ("proofd headers acme --method POST --url https://api.example.com/v1/orders --json", "the same for programs"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    guard let url = arguments.last("--url") else { throw .usage("--url is missing") }
    let target: [(String, JSONValue)] = [
      ("method", .string(arguments.last("--method") ?? "GET")), ("url", .string(url)),
    ]
    let request = AccountsRequest.account(
      arguments.operand("NAME"), "headers", method: "POST",
      content: .object(target + (try TokenOptions.members(arguments))))
    let answer = try Accounts(arguments, invocation).ask(request)
    if arguments.has("--json") {
      invocation.terminal.reveal(String(decoding: answer.serialised(), as: UTF8.self))
      return .ok
    }
    for field in answer["headers"]?.arrayValue ?? [] {
      guard let name = field["name"]?.stringValue, let value = field["value"]?.stringValue else { continue }
      invocation.terminal.reveal("\(name): \(value)".printable)
    }
    return .ok
  }
}
