import HTTPWire

/// Which authorities and origins a request may name to be let in (design §4.2): exact matches, port included.
///
/// DNS rebinding makes a page's requests arrive with a foreign `Host`; a page of another site or of another
/// localhost port is told by `Sec-Fetch-Site` and `Origin`. Programs send neither.
package struct Admission: Sendable {
  package enum Verdict {
    case admitted
    /// Served under `NAME.localhost`: the index of the route with that name.
    case admittedForRoute(Int)
    case refused(OwnAnswer, StaticString)
  }

  private struct Authority: Sendable {
    let bytes: [UInt8]
    let route: Int?
  }
  /// Sorted by length would gain nothing: the list has a handful of entries.
  private let authorities: [Authority]

  /// - Parameters:
  ///   - authorities: `127.0.0.1:9449` and the like, lower-case, with port unless it is 80.
  ///   - routes: names served as `NAME.localhost` on the same ports, in route order.
  package init(authorities: [String], routeAuthorities: [(authority: String, route: Int)]) {
    self.authorities =
      authorities.map { Authority(bytes: Array($0.utf8), route: nil) }
      + routeAuthorities.map { Authority(bytes: Array($0.authority.utf8), route: $0.route) }
  }

  /// Judges one request by its `Host`, `Origin` and `Sec-Fetch-Site`.
  package func judge(
    host: UnsafeRawBufferPointer, origin: UnsafeRawBufferPointer?, fetchSite: UnsafeRawBufferPointer?
  ) -> Verdict {
    guard let own = authorities.indices.first(where: { Self.matches(host, authorities[$0].bytes) }) else {
      return .refused(.hostNotAllowed, "The Host field names none of this gateway's addresses.")
    }
    if let fetchSite, !fetchSite.bytes(equal: "none"), !fetchSite.bytes(equal: "same-origin") {
      return .refused(.crossSiteRefused, "Sec-Fetch-Site is neither none nor same-origin.")
    }
    if let origin, !isOwn(origin: origin) {
      return .refused(.crossSiteRefused, "Origin is not this gateway.")
    }
    return authorities[own].route.map(Verdict.admittedForRoute) ?? .admitted
  }

  private func isOwn(origin: UnsafeRawBufferPointer) -> Bool {
    let scheme: StaticString = "http://"
    guard origin.count > scheme.utf8CodeUnitCount, origin.slice(0..<scheme.utf8CodeUnitCount).bytes(equal: scheme)
    else { return false }
    let authority = origin.slice(scheme.utf8CodeUnitCount..<origin.count)
    return authorities.contains { Self.matches(authority, $0.bytes) }
  }

  /// Host names compare without regard to case (RFC 9110 §4.2.3).
  private static func matches(_ given: UnsafeRawBufferPointer, _ own: [UInt8]) -> Bool {
    guard given.count == own.count else { return false }
    for index in 0..<own.count {
      var byte = given[index]
      if byte >= 0x41, byte <= 0x5A { byte |= 0x20 }
      if byte != own[index] { return false }
    }
    return true
  }
}
