import HTTPWire

/// How a token is presented. Names have no case; ours are the ones of the HTTP authentication scheme registry.
///
/// RFC 6749 §7.1, RFC 9449 §5
package enum TokenType: Sendable, Equatable {
  case bearer
  case dpop
  /// `N_A`: it is no access token, and is not presented as one. RFC 8693 §2.2.1
  case notApplicable
  /// One we can't present.
  case other(UntrustedText)

  package init(_ text: String) {
    self =
      if ASCII.equalCaseInsensitively(text, "DPoP") {
        .dpop
      } else if ASCII.equalCaseInsensitively(text, "Bearer") {
        .bearer
      } else if ASCII.equalCaseInsensitively(text, "N_A") {
        .notApplicable
      } else { .other(UntrustedText(text)) }
  }

  /// The scheme word of an `Authorization` field; nil for a type that has none.
  package var scheme: String? {
    switch self {
    case .bearer: "Bearer"
    case .dpop: "DPoP"
    case .notApplicable, .other: nil
    }
  }
}

extension TokenType: CustomStringConvertible {
  package var description: String {
    switch self {
    case .bearer: "Bearer"
    case .dpop: "DPoP"
    case .notApplicable: "N_A"
    case .other(let text): "\"\(text.shown(hiding: []))\""
    }
  }
}
