/// What of the request log is asked for.
struct RecordsQuery: Equatable {
  /// Records of the past, from 0 to `lastMax`.
  var last: Int
  /// New records follow as server-sent events until the client leaves.
  var follows = false
  /// One JSON array instead of lines.
  var wantsArray = false

  static let lastDefault = 100
  static let lastMax = 1_000

  init(_ pairs: [(String, String)], wantsArray: Bool) throws(AdminProblem) {
    var last: Int?
    var follows: Bool?
    for (name, value) in pairs {
      switch name {
      case "last" where last == nil:
        guard let number = Self.number(value) else { throw .badParameter("`last` is a number from 0 to 1000.") }
        last = number
      case "follow" where follows == nil:
        guard value == "true" || value == "false" else { throw .badParameter("`follow` is true or false.") }
        follows = value == "true"
      case "last", "follow": throw .badParameter("A parameter is given twice.")
      default: throw .badParameter("The parameters of this resource are `last` and `follow`.")
      }
    }
    self.follows = follows ?? false
    self.last = last ?? (self.follows ? 0 : Self.lastDefault)
    self.wantsArray = wantsArray && !self.follows
  }

  private static func number(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.count <= 4, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(text), number <= lastMax
    else { return nil }
    return number
  }
}
