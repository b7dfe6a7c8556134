import Testing

/// Which upstream URL a local one becomes.
@Suite(.timeLimit(.minutes(5))) struct RoutingTests {
  static let routes = """
    api: {path: /api, upstream: "$API"}
    deep: {path: /api/deep, upstream: "$API/v2/base/"}
    base: {path: /base, upstream: "$API/v1/orders"}
    hosted: {upstream: "$API/host"}
    limited: {path: /limited, upstream: "$API", methods: [GET, QUERY]}
    """

  @Test(arguments: [
    ("/api/echo", "/echo"), ("/api", "/"), ("/api/", "/"), ("/api/a/b", "/a/b"),
    // Segments, not characters; the longest match wins.
    ("/api/deep", "/v2/base/"), ("/api/deep/x", "/v2/base/x"), ("/api/deeper", "/deeper"),
    // A base path and what is left.
    ("/base", "/v1/orders"), ("/base/", "/v1/orders/"), ("/base/7", "/v1/orders/7"),
    // Bytes are kept: encoded slashes, cases, slashes twice and at the end, parameters, dots that are no segments.
    ("/api/a%2Fb", "/a%2Fb"), ("/api/a%2fb", "/a%2fb"), ("/api/%7Euser", "/%7Euser"), ("/api/~user", "/~user"),
    ("/api//a//b//", "//a//b//"), ("/api/credential/", "/credential/"), ("/api/credential", "/credential"),
    ("/api/a;v=1", "/a;v=1"), ("/api/.well-known/...", "/.well-known/..."), ("/api/a.b..c", "/a.b..c"),
    ("/api/a+b@c:d!$&'()*,=", "/a+b@c:d!$&'()*,="),
    // So is the query, an empty one too.
    ("/api?a=1&b=%23", "/?a=1&b=%23"), ("/api/x?", "/x?"), ("/api/x?a&&b==?/../%zz", "/x?a&&b==?/../%zz"),
    ("/base?x=1", "/v1/orders?x=1"),
  ])
  func `a path is matched by segments and the rest of it kept as it is`(local: String, upstream: String) async throws {
    try await Scene.play(.open(routes: Self.routes)) { scene async throws in
      try await scene.call("GET", local)
      #expect(try scene.last().target == upstream)
    }
  }

  @Test(arguments: ["/", "/ap", "/apis", "/API", "/api%2Fx", "/%61pi", "/base1", "/x/api", "//api", "/hosted", "/host"])
  func `a path that no route's segments begin is answered no_route`(target: String) async throws {
    try await Scene.play(.open(routes: Self.routes)) { scene async throws in
      let answer = try await scene.call("GET", target)
      #expect(answer.status == 404)
      #expect(answer.code == "no_route")
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test func `the route for slash takes what no other takes, and strips nothing`() async throws {
    try await Scene.play(.open(routes: "all: {path: /, upstream: \"$API/up\"}\none: {path: /one, upstream: \"$API\"}"))
    {
      scene async throws in
      for (local, upstream) in [("/", "/up/"), ("/x//y?q", "/up/x//y?q"), ("/one/z", "/z"), ("///", "/up///")] {
        try await scene.call("GET", local)
        #expect(try scene.last().target == upstream)
      }
    }
  }

  @Test(arguments: [("/", "/host/"), ("/api/x", "/host/api/x"), ("/a%2Fb?c", "/host/a%2Fb?c")])
  func `NAME dot localhost reaches its route with the path kept`(local: String, upstream: String) async throws {
    try await Scene.play(.open(routes: Self.routes)) { scene async throws in
      for name in ["hosted.localhost", "HOSTED.LocalHost"] {
        let client = try scene.connect()
        try await client.send(client.head("GET", local, host: "\(name):\(scene.port)"))
        _ = try await client.read()
        #expect(try scene.last().target == upstream)
      }
    }
  }

  @Test func `a route with a path is also reached by its name, host before path`() async throws {
    try await Scene.play(.open(routes: Self.routes)) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("GET", "/base/1", host: "api.localhost:\(scene.port)"))
      _ = try await client.read()
      #expect(try scene.last().target == "/base/1")
    }
  }

  @Test(arguments: [
    "/api/../x", "/api/..", "/api/.", "/api/./x", "/api/%2e%2e/x", "/api/.%2E/x", "/api/%2e", "/api/a/..%2fb",
    "/api/..;x/y", "/../api", "/api/a\\..\\b", "/api/a%5c..%5Cb", "/api/a/%2E%2e",
  ])
  func `dot segments, however they are spelt, are refused before anything is sent`(target: String) async throws {
    try await Scene.play(.open(routes: Self.routes)) { scene async throws in
      let answer = try await scene.call("GET", target)
      #expect(answer.status == 400)
      #expect(answer.code == "bad_request")
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test(arguments: [("GET", 200), ("QUERY", 200), ("POST", 403), ("get", 403), ("HEAD", 403), ("DELETE", 403)])
  func `a route with methods takes those and no others`(method: String, status: Int) async throws {
    try await Scene.play(.open(routes: Self.routes)) { scene async throws in
      let answer = try await scene.call(method, "/limited/echo")
      #expect(answer.status == status)
      #expect(answer.code == (status == 403 ? "refused_by_policy" : nil))
      #expect(scene.arrived.count == (status == 200 ? 1 : 0))
    }
  }

  @Test func `methods go upstream as they are spelt`() async throws {
    try await Scene.play(.open()) { scene async throws in
      for method in ["GET", "PATCH", "QUERY", "patch", "X-Custom!"] {
        try await scene.call(method, "/api/echo")
        #expect(try scene.last().method == method)
      }
    }
  }

  /// RFC 9112 §3.2.2
  @Test func `an absolute target that names this gateway is the same as its path`() async throws {
    try await Scene.play(.open(routes: Self.routes)) { scene async throws in
      let answer = try await scene.call("GET", "http://127.0.0.1:\(scene.port)/base/1?q")
      #expect(answer.code == nil)
      #expect(try scene.last().target == "/v1/orders/1?q")
    }
  }

  @Test(arguments: [
    "http://api.example.com/api/x", "https://127.0.0.1/api/x", "*", "api/x", "/api/a#b", "/api/%zz", "/api/%2",
    "http:///api", "//", "///../", "127.0.0.1:80",
  ])
  func `a target of another form, or for another host, is refused`(target: String) async throws {
    try await Scene.play(.open(routes: Self.routes)) { scene async throws in
      let answer = try await scene.call("GET", target)
      #expect([400, 404].contains(answer.status))
      #expect(answer.code != nil)
      #expect(scene.arrived.isEmpty)
    }
  }
}
