/// The methods resources of the admin API have; names are case-sensitive. RFC 9110 §9.1
enum AdminMethod: String, Sendable {
  case get = "GET"
  case head = "HEAD"
  case post = "POST"
  case patch = "PATCH"
  case delete = "DELETE"

  /// The methods of a resource that can only be read.
  static let reading: [AdminMethod] = [.get, .head]

  /// Whether the request's content says what is wanted; that of other methods has no meaning.
  var takesContent: Bool { self == .post || self == .patch }
}
