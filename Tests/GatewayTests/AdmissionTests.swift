import HTTPWire
import Testing

@testable import Gateway

/// Design §4.2: exact matches only, port included.
struct AdmissionTests {
  private static let admission = Admission(
    authorities: ["127.0.0.1:9449", "localhost:9449", "[::1]:9449", "proofd.test"],
    routeAuthorities: [("orders.localhost:9449", 3)])

  private func judge(_ host: String, origin: String? = nil, fetchSite: String? = nil) -> String {
    let verdict = withBytes(host) { host in
      withBytes(origin) { origin in
        withBytes(fetchSite) { fetchSite in
          Self.admission.judge(host: host ?? .init(start: nil, count: 0), origin: origin, fetchSite: fetchSite)
        }
      }
    }
    return switch verdict {
    case .admitted: "admitted"
    case .admittedForRoute(let index): "route \(index)"
    case .refused(let code, _): code.rawValue
    }
  }

  private func withBytes<R>(_ text: String?, _ body: (UnsafeRawBufferPointer?) -> R) -> R {
    guard let text else { return body(nil) }
    return Array(text.utf8).withUnsafeBytes { body($0) }
  }

  @Test(arguments: ["127.0.0.1:9449", "localhost:9449", "LOCALHOST:9449", "[::1]:9449", "proofd.test"])
  func `our own names are served`(host: String) { #expect(judge(host) == "admitted") }

  @Test func `a route's name leads to its route`() { #expect(judge("Orders.localhost:9449") == "route 3") }

  @Test(arguments: [
    "", "evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:94490", "localhost", "localhost.:9449",
    "localhost:9449.evil.example", "evil.localhost:9449", "127.0.0.1:9449 ", "127.0.0.2:9449", "0.0.0.0:9449",
    "orders.localhost", "proofd.test:9449", "[::1]:9450", "::1:9449",
  ])
  func `C78 any other Host is misdirected, also without Origin`(host: String) {
    #expect(judge(host) == "host_not_allowed")
  }

  @Test(arguments: ["none", "same-origin"])
  func `a person's navigation and our own pages pass`(site: String) {
    #expect(judge("localhost:9449", fetchSite: site) == "admitted")
  }

  @Test(arguments: ["cross-site", "same-site", "", "None", "none, none", "x"])
  func `any other Sec-Fetch-Site is cross-site, another localhost port too`(site: String) {
    #expect(judge("localhost:9449", fetchSite: site) == "cross_site_refused")
  }

  @Test(arguments: ["http://localhost:9449", "http://127.0.0.1:9449", "http://orders.localhost:9449"])
  func `our own origins pass`(origin: String) { #expect(judge("localhost:9449", origin: origin) == "admitted") }

  @Test(arguments: [
    "null", "", "http://localhost", "http://localhost:9450", "https://localhost:9449", "http://localhost:9449/",
    "http://evil.example", "http://localhost:9449.evil.example", "http://", "file://", "http://localhost:9449 http://x",
  ])
  func `any other Origin is cross-site, null too`(origin: String) {
    #expect(judge("localhost:9449", origin: origin) == "cross_site_refused")
  }
}
