import HTTPWire
import Testing

@testable import Gateway

struct GatewayRouteTests {
  private static func route(_ name: String, _ path: String?, upstream: String = "https://api.example.com/") throws
    -> GatewayRoute
  {
    GatewayRoute(.init(name: name, path: path, upstream: try HTTPURL(parsing: upstream), endpoint: 0), index: 0)
  }

  private func match(_ path: String, _ routes: [GatewayRoute]) -> String? {
    Array(path.utf8).withUnsafeBytes { path in
      RouteTable(routes).match(path: path).map { "\($0.route.name)+\($0.strippedBytes)" }
    }
  }

  @Test(arguments: [
    ("/orders", "orders+7"), ("/orders/", "orders+7"), ("/orders/1", "orders+7"), ("/orders/deep", "deep+12"),
    ("/orders/deep/x", "deep+12"), ("/orders/deeper", "orders+7"), ("/ordersx", "root+0"), ("/", "root+0"),
    ("/Orders", "root+0"), ("//orders", "root+0"), ("/orders%2F1", "root+0"), ("/orders;a=b", "root+0"),
  ])
  func `the longest prefix of whole segments wins`(path: String, expected: String) throws {
    let routes = try [Self.route("root", "/"), Self.route("orders", "/orders"), Self.route("deep", "/orders/deep")]
    #expect(match(path, routes) == expected)
  }

  @Test func `without a match there is no route`() throws {
    #expect(match("/", [try Self.route("orders", "/orders"), try Self.route("by-host-only", nil)]) == nil)
  }

  @Test(arguments: [("GET", true), ("HEAD", true), ("get", false), ("GETX", false), ("POST", false), ("", false)])
  func `methods are compared as they are written`(method: String, allowed: Bool) throws {
    var definition = GatewayRoute.Definition(
      name: "r", path: "/", upstream: try HTTPURL(parsing: "https://api.example.com/"), endpoint: 0)
    definition.methods = ["GET", "HEAD"]
    let route = GatewayRoute(definition, index: 0)
    #expect(Array(method.utf8).withUnsafeBytes { route.allows(method: $0) } == allowed)
  }
}
