import Glibc
import Testing

@testable import Console

@Suite struct ControlServerTests {
  @Test func `status and routes are answered on one connection`() throws {
    let server = try RunningServer()
    let client = try server.client()
    let status = try client.request("GET", "/v1/status")
    #expect(status.status == 200)
    #expect(status.fields["content-type"] == "application/json")
    #expect(status.fields["cache-control"] == "no-store")
    #expect(status.body == "{\"version\":\"1.2.3\",\"listeners\":[\"127.0.0.1:9449\"]}\n")
    let routes = try client.request("GET", "/v1/routes")
    #expect(routes.status == 200)
    #expect(routes.body == "[{\"name\":\"orders\",\"upstream\":\"https://api.example.com/v1\"}]\n")
  }

  @Test func `Host is not looked at, and an absolute target is served`() throws {
    let server = try RunningServer()
    let client = try server.client()
    try client.send("GET http://anywhere.example/v1/status HTTP/1.1\r\nHost: anywhere.example\r\n\r\n")
    #expect(try client.answer().status == 200)
    try client.send("GET /v1/status HTTP/1.0\r\n\r\n")
    #expect(try client.answer().status == 200)
    #expect(try client.isAtEnd())
  }

  @Test func `HEAD is answered without a body`() throws {
    let server = try RunningServer()
    let client = try server.client()
    let head = try client.request("HEAD", "/v1/status")
    #expect(head.status == 200)
    let answer = try client.request("GET", "/v1/status")
    #expect(head.fields == answer.fields)
    #expect(answer.fields["content-length"] == "\(answer.body.utf8.count)")
  }

  @Test(arguments: [
    ("GET", "/", 404, "not_found"), ("GET", "/v1", 404, "not_found"), ("GET", "/v1/status/", 404, "not_found"),
    ("GET", "/V1/status", 404, "not_found"), ("POST", "/v1/elsewhere", 404, "not_found"),
    ("OPTIONS", "*", 404, "not_found"), ("POST", "/v1/status", 405, "method_not_allowed"),
    ("DELETE", "/v1/routes", 405, "method_not_allowed"), ("OPTIONS", "/v1/records", 405, "method_not_allowed"),
    ("GET", "/v1/status?verbose=true", 400, "bad_parameter"), ("GET", "/v1/records?last", 400, "bad_parameter"),
    ("GET", "/v1/records?last=-1", 400, "bad_parameter"), ("GET", "/v1/records?last=1001", 400, "bad_parameter"),
    ("GET", "/v1/records?last=99999999999999999999", 400, "bad_parameter"),
    ("GET", "/v1/records?last=1&last=2", 400, "bad_parameter"), ("GET", "/v1/records?follow=1", 400, "bad_parameter"),
    ("GET", "/v1/records?follow=true&follow=true", 400, "bad_parameter"),
    ("GET", "/v1/records?since=1", 400, "bad_parameter"), ("GET", "/v1/records?last=%zz", 400, "bad_parameter"),
  ])
  func `what does not exist is refused with a problem`(
    method: String, target: String, status: Int, code: String
  ) throws {
    let server = try RunningServer()
    let client = try server.client()
    let answer = try client.request(method, target)
    #expect(answer.status == status)
    #expect(answer.fields["content-type"] == "application/problem+json")
    #expect(answer.fields["proofd-error"] == code)
    #expect(answer.body.hasPrefix("{\"type\":\"urn:proofd:error:\(code)\",\"title\":\""))
    #expect(answer.body.contains("\"status\":\(status),\"detail\":\""))
    #expect(answer.body.contains("\"code\":\"\(code)\",\"next\":\""))
    #expect((answer.fields["allow"] == "GET, HEAD") == (status == 405))
    #expect(try client.request("GET", "/v1/status").status == 200)
  }

  @Test func `a request with an Origin is refused`() throws {
    let server = try RunningServer()
    let answer = try server.client().request("GET", "/v1/status", ["Origin: null"])
    #expect(answer.status == 403)
    #expect(answer.fields["proofd-error"] == "cross_site_refused")
  }

  @Test(arguments: [
    ("GET /v1/status HTTP/1.1\n", 400), ("GET /v1/status HTTP/1.1\r\n\r\n", 400), ("GET  / HTTP/1.1\r\n\r\n", 400),
    ("GET /v1/status HTTP/1.1\r\nHost: a\r\nA: LONG\r\n\r\n", 431),
  ])
  func `a broken request is refused and the connection closed`(text: String, status: Int) throws {
    let server = try RunningServer()
    let client = try server.client()
    try client.send(text.replacing("LONG", with: String(repeating: "a", count: 9_000)))
    let answer = try client.answer()
    #expect(answer.status == status)
    #expect(answer.fields["connection"] == "close")
    #expect(try client.isAtEnd())
  }

  @Test func `a request with content is answered and is the last`() throws {
    let server = try RunningServer()
    let client = try server.client()
    try client.send("GET /v1/status HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello")
    let answer = try client.answer()
    #expect(answer.status == 200)
    #expect(answer.fields["connection"] == "close")
    #expect(try client.isAtEnd())
  }

  @Test func `another user is refused`() throws {
    let server = try RunningServer(ownUID: geteuid() + 1)
    let client = try server.client()
    let answer = try client.request("GET", "/v1/status")
    #expect(answer.status == 403)
    #expect(answer.fields["proofd-error"] == "caller_unknown")
    #expect(try client.isAtEnd())
  }

  @Test func `closing removes the socket and ends connections`() throws {
    let server = try RunningServer()
    let client = try server.client()
    #expect(try client.request("GET", "/v1/status").status == 200)
    server.close()
    #expect(try client.isAtEnd())
    #expect(!server.folder.exists("run/control.sock"))
  }
}
