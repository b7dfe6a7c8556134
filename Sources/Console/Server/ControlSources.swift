package import Credentials
package import HTTPWire
package import Tracing

/// What the admin API shows and does. The closures run on the control loop and must not block.
package struct ControlSources: Sendable {
  /// The body of `GET /v1/status`.
  package let status: @Sendable () -> JSONValue
  /// The body of `GET /v1/routes`.
  package let routes: @Sendable () -> JSONValue
  /// The request log.
  package let hub: RecordHub
  /// nil: there are none to speak of.
  let accounts: AccountAPI?

  package init(
    status: @escaping @Sendable () -> JSONValue, routes: @escaping @Sendable () -> JSONValue, hub: RecordHub,
    accounts: (any AccountService)? = nil
  ) {
    self.status = status
    self.routes = routes
    self.hub = hub
    self.accounts = accounts.map(AccountAPI.init)
  }
}
