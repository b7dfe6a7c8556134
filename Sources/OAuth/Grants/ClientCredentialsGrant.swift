/// A token for the client itself. RFC 6749 §4.4
package struct ClientCredentialsGrant: TokenGrant {
  package static let grantType = "client_credentials"

  package let target: GrantTarget
  package var parameters: [FormParameter] { [] }

  package init(target: GrantTarget = GrantTarget()) { self.target = target }
}
