import Cryptography

/// An account of email-oauth2-proxy: a section of its configuration, or of its `--cache-store` file.
///
/// `refresh_token` is a Fernet token under a key that PBKDF2-HMAC-SHA256 makes of the password the mail program gives,
/// `token_salt` (base64) and `token_iterations`. A file that does not name the iterations, or names others than were used,
/// means those of another version. Plain options are `client_id` and `oauth2_scope`.
struct EmailProxyAccount {
  private let refreshToken: String
  private let salt: [UInt8]
  private let iterations: [Int]
  private let clientID: String?
  private let scope: String?

  /// What its versions derived keys with, the later first.
  private static let knownIterations = [1_200_000, 100_000]

  init(_ text: Secret, section: String) throws(CommandFailure) {
    let file = try INIFile(text.revealedString())
    guard file.sectionNames.contains(section) else {
      throw .usage(
        "there is no section \(section)", hint: "there are \(file.sectionNames.joined(separator: ", "))")
    }
    guard let token = file.value("refresh_token", in: section) else {
      throw .usage(
        "the section \(section) has no refresh_token", hint: "it may be in the file of the proxy's --cache-store")
    }
    guard let salt = file.value("token_salt", in: section).flatMap({ Base64.decode($0) }) else {
      throw .usage("the section \(section) has no usable token_salt")
    }
    refreshToken = token
    self.salt = salt
    clientID = file.value("client_id", in: section)
    scope = file.value("oauth2_scope", in: section)
    var iterations = Self.knownIterations
    if let text = file.value("token_iterations", in: section) {
      guard let named = Int(text), (1...PBKDF2.iterationsMax).contains(named) else {
        throw .usage("token_iterations of the section \(section) is not a number up to \(PBKDF2.iterationsMax)")
      }
      iterations = [named] + iterations.filter { $0 != named }
    }
    self.iterations = iterations
  }

  /// - Parameter password: of the account, as the mail program gives it to the proxy.
  func open(_ password: Secret) throws(CommandFailure) -> GrantToImport {
    for iterations in iterations {
      guard let key = try? PBKDF2.derive(password, salt: salt, iterations: iterations),
        let token = try? FernetToken.open(refreshToken, key: key)  // the next number may be the right one
      else { continue }
      var grant = GrantToImport(refreshToken: token)
      grant.clientID = clientID
      grant.scope = scope
      return grant
    }
    throw CommandFailure(
      exitCode: .failed, message: "this password does not open the refresh token",
      hint: "it is the one the mail program gives to the proxy")
  }
}
