package import Credentials
import Cryptography
import HTTPWire

/// The admin API's operations on accounts without their way of coming: the control socket and, when no daemon runs, a
/// command in process ask the same.
///
/// ```swift
/// let answer = await AccountAPI(service).answer(method: "GET", path: "/v1/accounts/acme%2Fwork")
/// ```
package struct AccountAPI: Sendable {
  package static let contentBytesMax = 256 << 10
  private static let minimumLifetimeSecondsMax: Int64 = 86_400
  private static let tokenMembers = ["audience", "resource", "scope", "min_ttl"]

  private let service: any AccountService

  package init(_ service: any AccountService) { self.service = service }

  /// - Parameters:
  ///   - path: as on the wire, percent-encoded.
  ///   - content: JSON; empty for none.
  package func answer(method: String, path: String, content: [UInt8] = []) async -> AdminAnswer {
    do throws(AdminProblem) {
      guard let resource = AccountResource(path: path) else { throw .notFound }
      return await answer(try resource.checking(method), resource, content)
    } catch {
      return error.answer
    }
  }

  /// - Parameter method: one the resource has.
  func answer(_ method: AdminMethod, _ resource: AccountResource, _ content: [UInt8]) async -> AdminAnswer {
    do throws(AdminProblem) {
      return try await perform(method, resource, content)
    } catch {
      return error.answer
    }
  }

  private func perform(
    _ method: AdminMethod, _ resource: AccountResource, _ content: [UInt8]
  ) async throws(AdminProblem) -> AdminAnswer {
    switch (resource, method) {
    case (.all, _):
      let accounts = try await asking { service throws(AccountFailure) in try await service.accounts() }
      return AdminAnswer(.array(accounts.map(\.json)))
    case (.account(let name), .patch): return try await change(name, content)
    case (.account(let name), .delete):
      try await asking { service throws(AccountFailure) in try await service.remove(name) }
      return .done
    case (.account(let name), _):
      return AdminAnswer(try await asking { service throws(AccountFailure) in try await service.account(name) }.json)
    case (.grant(let name), _): return try await importGrant(name, content)
    case (.identity(let name), _):
      return AdminAnswer(try await asking { service throws(AccountFailure) in try await service.identity(name) }.json)
    case (.token(let name), _): return try await token(name, content)
    case (.headers(let name), _): return try await headers(name, content)
    case (.lock, .post):
      _ = try RequestContent(content, knowing: [])
      try await asking { service throws(AccountFailure) in try await service.lock() }
      return await lockAnswer()
    case (.lock, _): return await lockAnswer()
    case (.unlock, _):
      let passphrase = try RequestContent(content, knowing: ["passphrase"]).requiredSecret("passphrase")
      try await asking { service throws(AccountFailure) in try await service.unlock(passphrase: passphrase) }
      return await lockAnswer()
    }
  }

  private func change(_ name: AccountName, _ bytes: [UInt8]) async throws(AdminProblem) -> AdminAnswer {
    let content = try RequestContent(bytes, knowing: ["default", "tags"])
    let tags = try content.object("tags", knowing: ["add", "remove"])
    let (added, removed) = (try tags?.texts("add") ?? [], try tags?.texts("remove") ?? [])
    let makesDefault = try content.flag("default")
    guard makesDefault || !added.isEmpty || !removed.isEmpty else {
      throw .badRequest("The content changes nothing: it has neither `default` true nor tags.")
    }
    var status: AccountStatus?
    if !added.isEmpty || !removed.isEmpty {
      status = try await asking { service throws(AccountFailure) in
        try await service.tag(name, adding: added, removing: removed)
      }
    }
    if makesDefault {
      status = try await asking { service throws(AccountFailure) in try await service.makeDefault(name) }
    }
    return AdminAnswer(status?.json ?? .null)
  }

  private func importGrant(_ name: AccountName, _ bytes: [UInt8]) async throws(AdminProblem) -> AdminAnswer {
    let content = try RequestContent(
      bytes,
      knowing: [
        "refresh_token", "id_token", "proof_key", "scope", "tags", "client_id", "issuer", "replace", "offline",
      ])
    let grant = ImportedGrant(
      refreshToken: try content.requiredSecret("refresh_token"), idToken: try content.secret("id_token"),
      proofKey: try content.secret("proof_key"), scope: try content.words("scope"),
      tags: try content.texts("tags"), clientID: try content.text("client_id"),
      issuer: try content.text("issuer"))
    let (replaces, isOffline) = (try content.flag("replace"), try content.flag("offline"))
    let status = try await asking { service throws(AccountFailure) in
      try await service.importGrant(grant, as: name, replace: replaces, isOffline: isOffline)
    }
    return AdminAnswer(status.json)
  }

  private func token(_ name: AccountName, _ bytes: [UInt8]) async throws(AdminProblem) -> AdminAnswer {
    let ask = try Self.tokenAsk(try RequestContent(bytes, knowing: Self.tokenMembers))
    let token = try await asking { service throws(AccountFailure) in try await service.token(name, ask) }
    return AdminAnswer(token)
  }

  private func headers(_ name: AccountName, _ bytes: [UInt8]) async throws(AdminProblem) -> AdminAnswer {
    let content = try RequestContent(bytes, knowing: ["method", "url"] + Self.tokenMembers)
    let method = try content.requiredText("method")
    guard ASCII.isToken(method) else { throw .badRequest("The member method is not a method.") }
    guard let url = try? HTTPURL(parsing: try content.requiredText("url")) else {  // which part is wrong shows at once
      throw .badRequest("The member url is not an http or https URL.")
    }
    var ask = FieldsAsk(method: method, url: url)
    ask.token = try Self.tokenAsk(content)
    let fields = try await asking { [ask] service throws(AccountFailure) in try await service.fields(name, ask) }
    return AdminAnswer(fields)
  }

  private static func tokenAsk(_ content: RequestContent) throws(AdminProblem) -> TokenAsk {
    var ask = TokenAsk()
    ask.audience = try content.text("audience")
    ask.resource = try content.texts("resource")
    ask.scope = try content.words("scope")
    ask.minimumLifetime = try content.seconds("min_ttl", max: minimumLifetimeSecondsMax)
    return ask
  }

  private func lockAnswer() async -> AdminAnswer { AdminAnswer(LockStatus.json(await service.lockStatus())) }

  private func asking<Value: Sendable>(
    _ operation: @Sendable (any AccountService) async throws(AccountFailure) -> Value
  ) async throws(AdminProblem) -> Value {
    do throws(AccountFailure) {
      return try await operation(service)
    } catch {
      throw .account(error)
    }
  }
}
