/// One field of a control-plane message. It does not print its value, which may be a credential.
package struct HTTPField: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  package var name: String
  package var value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  package var description: String { name }
  package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

/// A whole request of the control plane: to an authorization server, an admin API. It prints its method and URL only.
package struct HTTPRequest: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  package var method: String
  package var url: HTTPURL
  package var fields: [HTTPField]
  /// Nil for no content at all; empty for `Content-Length: 0`.
  package var body: [UInt8]?

  package init(method: String, url: HTTPURL, fields: [HTTPField] = [], body: [UInt8]? = nil) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
  }

  package var description: String { "\(method) \(url)" }
  package var customMirror: Mirror { Mirror(self, children: ["method": method, "url": url.description]) }
}

/// A whole response of the control plane. It prints its status only.
package struct HTTPResponse: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  package var status: Int
  package var fields: [HTTPField]
  package var body: [UInt8]

  package init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// The values of every field called `name`, in order; names are case-insensitive.
  package func values(of name: String) -> [String] {
    fields.filter { ASCII.equalCaseInsensitively($0.name, name) }.map(\.value)
  }

  /// The value of the only field called `name`; nil when there is none or more than one.
  package func onlyValue(of name: String) -> String? {
    let found = values(of: name)
    return found.count == 1 ? found[0] : nil
  }

  package var description: String { "\(status)" }
  package var customMirror: Mirror { Mirror(self, children: ["status": status]) }
}

/// Why a request got no response. The texts carry no secrets.
package enum HTTPSendFailure: Error, Sendable, Equatable {
  /// No connection: name resolution, refused, unreachable.
  case unreachable(String)
  case tls(String)
  case timeout
  /// The response was not valid HTTP/1.1.
  case protocolViolation(String)
  /// The connection closed before the response was complete: whether the request was processed is unknown.
  case closed
  /// The response was larger than the caller allows.
  case tooLarge
}

/// Sends control-plane requests: a transport in production, a script in tests.
package protocol HTTPSending: Sendable {
  /// Sends `request` once: redirects are not followed and nothing is sent again.
  ///
  /// - Parameter timeout: for the whole exchange.
  /// - Throws: `HTTPSendFailure` when no complete response came.
  func send(_ request: HTTPRequest, timeout: Duration) async throws(HTTPSendFailure) -> HTTPResponse
}
