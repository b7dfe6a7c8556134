import HTTPWire

/// Spellings that some upstreams take for the names that are removed: an `X_Forwarded_For` that passed would reach a CGI or
/// WSGI application as the `X-Forwarded-For` that was taken out.
extension RequestTemplate {
  /// Whether `name` is not to pass because of what it is folded onto.
  static func isRemovedFolded(_ name: UnsafeRawBufferPointer, _ route: GatewayRoute) -> Bool {
    FoldedName.withFolded(name) { !passes(FieldID(name: $0), route) || isRemoved($0, route) }
  }

  /// Whether the route removes fields called `name`, however its hyphens are written.
  static func isRemovedInAnySpelling(_ name: UnsafeRawBufferPointer, _ route: GatewayRoute) -> Bool {
    FoldedName.withFolded(name) { isRemoved($0, route) }
  }
}
