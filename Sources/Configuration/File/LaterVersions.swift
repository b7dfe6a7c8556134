/// What the documentation shows and this version can't do yet. One list, so that such a key is answered with
/// "not supported by this version" and not taken for a slip; an entry leaves the list when its feature arrives.
enum LaterVersions {
  static let documentKeys = ["console", "trace", "key"]
  static let callers = ["keys"]
  static let providers = ["auth0", "okta", "own-auth"]
  static let credentialKeys = [
    "domain", "connection", "organization", "prompt", "redirect_uri", "dpop_algorithm", "revoke",
  ]
  static let endpointKeys = [
    "authorization", "device_authorization", "introspection", "jwks", "pushed_authorization", "revocation", "userinfo",
    "end_session",
  ]
  static let upstreamTLSKeys = ["certificate", "key"]
  static let routeKeys = ["host", "allow_bearer", "proxy"]

  static let message = "not supported by this version of proofd"
}
