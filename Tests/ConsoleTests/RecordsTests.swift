import EventLoop
import Testing

@testable import Console
@testable import Tracing

@Suite struct RecordsTests {
  private static func events(_ lines: [String]) -> String { lines.map { "event: record\ndata: \($0)\n\n" }.joined() }

  @Test func `the last records come as lines or as an array`() throws {
    let server = try RunningServer()
    server.submit(["{\"a\":1}", "{\"a\":2}"])
    server.submit(["{\"a\":3}"])
    server.hub.waitUntilWritten()
    let client = try server.client()
    let lines = try client.request("GET", "/v1/records?last=2")
    #expect(lines.fields["content-type"] == "application/x-ndjson")
    #expect(lines.body == "{\"a\":2}\n{\"a\":3}\n")
    let array = try client.request("GET", "/v1/records", ["Accept: text/plain, Application/JSON;q=1"])
    #expect(array.fields["content-type"] == "application/json")
    #expect(array.body == "[{\"a\":1},{\"a\":2},{\"a\":3}]\n")
    #expect(try client.request("GET", "/v1/records?last=0").body.isEmpty)
    #expect(try client.request("GET", "/v1/records?last=0", ["Accept: application/json"]).body == "[]\n")
  }

  @Test func `two who follow get the past they asked for and every new record`() throws {
    let server = try RunningServer()
    server.submit(["{\"a\":1}", "{\"a\":2}"])
    server.hub.waitUntilWritten()
    let (one, other) = (try server.client(), try server.client())
    try one.send("GET /v1/records?last=1&follow=true HTTP/1.1\r\nHost: a\r\n\r\n")
    try other.send("GET /v1/records?follow=true HTTP/1.1\r\nHost: a\r\n\r\n")
    for client in [one, other] {
      let (status, fields) = try client.head()
      #expect(status == 200)
      #expect(fields["content-type"] == "text/event-stream")
      #expect(fields["transfer-encoding"] == "chunked")
    }
    #expect(try one.chunk() == Self.events(["{\"a\":2}"]))
    server.submit(["{\"a\":3}", "{\"a\":4}"])
    #expect(try one.chunk() == Self.events(["{\"a\":3}", "{\"a\":4}"]))
    #expect(try other.chunk() == Self.events(["{\"a\":3}", "{\"a\":4}"]))
    server.submit(["{\"a\":5}"])
    #expect(try one.chunk() == Self.events(["{\"a\":5}"]))
    #expect(try other.chunk() == Self.events(["{\"a\":5}"]))
  }

  @Test func `an HTTP 1.0 client follows until the connection ends`() throws {
    let server = try RunningServer()
    let client = try server.client()
    try client.send("GET /v1/records?follow=true HTTP/1.0\r\n\r\n")
    #expect(try client.head().fields["transfer-encoding"] == nil)
  }

  @Test func `HEAD of a live answer ends at once`() throws {
    let server = try RunningServer()
    let client = try server.client()
    try client.send("HEAD /v1/records?follow=true HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.head().fields["content-type"] == "text/event-stream")
    #expect(try client.request("GET", "/v1/status").status == 200)
  }

  @Test func `a client that leaves ends its subscription`() throws {
    let server = try RunningServer()
    do {
      let client = try server.client()
      try client.send("GET /v1/records?follow=true HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = try client.head()
      #expect(server.hub.isWatched)
    }
    // The connection's end reaches the loop before a request that comes after it.
    while server.hub.isWatched { _ = try server.client().request("GET", "/v1/status") }
  }

  @Test func `a slow reader misses records, is told how many, and holds up nobody`() throws {
    let server = try RunningServer()
    let slow = try server.client()
    try slow.send("GET /v1/records?follow=true HTTP/1.1\r\nHost: a\r\n\r\n")
    _ = try slow.head()
    let padding = String(repeating: "x", count: 1_000)
    let (batchCount, lineCount) = (80, 100)
    for batch in 0..<batchCount {
      server.submit((0..<lineCount).map { "{\"n\":\(batch * lineCount + $0),\"pad\":\"\(padding)\"}" })
      server.hub.waitUntilWritten()
    }
    #expect(try server.client().request("GET", "/v1/status").status == 200)
    var (received, dropped, last) = (0, 0, -1)
    while received + dropped < batchCount * lineCount {
      for event in try slow.chunk().split(separator: "\n\n") {
        if let range = event.firstRange(of: "\"dropped\":") {
          dropped += Int(event[range.upperBound...].prefix { $0.isNumber }) ?? 0
        } else if let range = event.firstRange(of: "\"n\":"),
          let number = Int(event[range.upperBound...].prefix { $0.isNumber })
        {
          #expect(number > last)
          last = number
          received += 1
        }
      }
    }
    #expect(received > 1_000)
    #expect(dropped > 1_000)
    #expect(received + dropped == batchCount * lineCount)
  }

  @Test func `a live answer ends properly when the daemon stops`() throws {
    let server = try RunningServer()
    let client = try server.client()
    try client.send("GET /v1/records?follow=true HTTP/1.1\r\nHost: a\r\n\r\n")
    _ = try client.head()
    server.submit(["{}"])
    #expect(try client.chunk() == Self.events(["{}"]))
    server.close()
    #expect(try client.chunk().isEmpty)
    #expect(try client.isAtEnd())
    #expect(!server.hub.isWatched)
  }

  @Test func `requests that came with the one for the stream wait for nothing`() throws {
    let server = try RunningServer()
    let client = try server.client()
    try client.send(
      "GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/records?follow=true HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.answer().status == 200)
    #expect(try client.head().fields["content-type"] == "text/event-stream")
  }
}
