import Configuration
import Testing

/// What a text means, as the file `proofd.yaml` in `/etc/proofd` of a user whose home is `/home/me`.
func parse(_ text: String) -> (configuration: Configuration?, problems: [ConfigurationProblem]) {
  Configuration.parse(
    bytes: Array(text.utf8), fileName: "proofd.yaml", baseDirectory: "/etc/proofd", home: "/home/me")
}

/// The problems of a text as they are shown, without the file's name.
func problems(_ text: String) -> [String] {
  parse(text).problems.map { String($0.description.dropFirst("proofd.yaml:".count)) }
}

/// The configuration of a text that has no errors.
func configuration(_ text: String, _ location: SourceLocation = #_sourceLocation) throws -> Configuration {
  let (configuration, problems) = parse(text)
  #expect(!problems.contains { $0.severity == .error }, "\(problems)", sourceLocation: location)
  return try #require(configuration, sourceLocation: location)
}

/// A text with one mistake, or one doubtful thing, and what is said about it.
struct Mistake: Sendable, CustomTestStringConvertible {
  let text: String
  let problem: String

  init(_ text: String, _ problem: String) {
    self.text = text
    self.problem = problem
  }

  var testDescription: String { text.replacing("\n", with: "⏎") }
}

/// `routes.r` with the given lines, and a credential to use.
func route(_ lines: String) -> String {
  """
  credentials:
    c: {provider: oidc, issuer: "https://id.example", grant: client_credentials, client_id: x, dpop: true}
    b: {provider: static, token: {env: T}}
    k: {provider: static, header: X-Api-Key, token: {env: T}}
  routes:
    used: {path: /b, upstream: "https://b.example", credential: b}
    used2: {path: /c, upstream: "https://c.example", credential: c}
    used3: {path: /k, upstream: "https://k.example", credential: k}
    r:
  \(indented(lines, by: 4))
  """
}

/// `credentials.c` with the given lines, and a route that uses it.
func credential(_ lines: String) -> String {
  "routes: {r: {path: /r, upstream: \"https://api.example\", credential: c}}\ncredentials:\n  c:\n"
    + indented(lines, by: 4)
}

private func indented(_ lines: String, by count: Int) -> String {
  lines.split(separator: "\n").map { String(repeating: " ", count: count) + $0 }.joined(separator: "\n")
}
