import Glibc
import HTTPWire

/// The value of a command line option, read as what the option wants.
struct ArgumentValue {
  typealias UsageError = SimulatorArguments.UsageError

  static let secondsMax = 1_000_000_000
  static let settingsBytesMax = 1 << 20

  let name: String
  let text: String

  func port() throws(UsageError) -> UInt16 { UInt16(try number(in: 0...65_535)) }

  func number(in range: ClosedRange<Int>) throws(UsageError) -> Int { try number(text, in: range) }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(_: Choice.Type) throws(UsageError) -> Choice {
    try choice(text, Choice.self)
  }

  func client() throws(UsageError) -> SimulatedClient {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard !parts[0].isEmpty else { throw UsageError(detail: "\(name) must be ID or ID:SECRET") }
    return SimulatedClient(id: parts[0], secret: parts.count > 1 ? parts[1] : nil)
  }

  /// `SECONDS` or `SECONDS:FORM`.
  func lifetime(
    _ standard: AuthorizationServerSettings.ExpiresInForm
  ) throws(UsageError) -> (Int, AuthorizationServerSettings.ExpiresInForm) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let seconds = try number(parts[0], in: 1...Self.secondsMax)
    guard parts.count > 1 else { return (seconds, standard) }
    return (seconds, try choice(parts[1], AuthorizationServerSettings.ExpiresInForm.self))
  }

  func baseURL() throws(UsageError) -> String {
    guard (try? HTTPURL(parsing: text)) != nil, !text.hasSuffix("/") else {  // only whether it is one matters
      throw UsageError(detail: "\(name) must be an http or https URL without a slash at its end")
    }
    return text
  }

  func access() throws(UsageError) -> APIAccess {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    switch (parts[0], parts.count) {
    case ("none", 1): return .none
    case ("dpop", 1): return .dpop
    case ("bearer", 1): return .bearer()
    case ("bearer", _): return .bearer(tokens: [parts.dropFirst().joined(separator: ":")])
    case ("basic", 3): return .basic(username: parts[1], password: parts[2])
    case ("header", 3): return .field(name: parts[1], value: parts[2])
    case ("query", 3): return .query(name: parts[1], value: parts[2])
    default:
      throw UsageError(
        detail: "\(name) must be none, dpop, bearer, bearer:TOKEN, basic:USER:PASSWORD, header:NAME:VALUE or "
          + "query:NAME:VALUE")
    }
  }

  /// Changes what the JSON in the file names.
  func applySettings(to settings: inout SimulationSettings) throws(UsageError) {
    guard let bytes = Self.contents(of: text) else { throw UsageError(detail: "\(name): can't read \(text)") }
    guard let value = JSONValue(strictly: bytes) else { throw UsageError(detail: "\(name): \(text) is not JSON") }
    do { try SettingsJSON.table.apply(value, to: &settings, at: "settings") } catch {
      throw UsageError(detail: "\(name): \(text): \(error.detail)")
    }
  }

  private func number(_ text: String, in range: ClosedRange<Int>) throws(UsageError) -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw UsageError(detail: "\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ text: String, _: Choice.Type
  ) throws(UsageError) -> Choice {
    guard let choice = Choice(rawValue: text) else {
      throw UsageError(detail: "\(name) must be one of: \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }

  /// nil if it can't be read or is larger than ``settingsBytesMax``.
  private static func contents(of file: String) -> [UInt8]? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count <= settingsBytesMax {
      let count = read(descriptor, &buffer, buffer.count)
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      bytes += buffer.prefix(count)
    }
    return nil
  }
}
