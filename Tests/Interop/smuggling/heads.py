"""Requests whose head two readers may take apart differently."""

from smuggling.vocabulary import (
    CL5, CLOSES, GET, HIDDEN, HOST, NOT_SERVED, NO_CHUNKS, ONE, ONE_AND_REFUSED, POST, REFUSED, TE, TOO_LARGE,
    chunk, sized,
)


def lines():
    """Line ends, control bytes, names. RFC 9112 §2.2, §5"""
    yield "LF everywhere", b"GET @t HTTP/1.1\nHost: @host\n\n" + HIDDEN, REFUSED
    yield "LF behind the request line", b"GET @t HTTP/1.1\n" + HOST + b"\r\n", REFUSED
    yield "LF behind a field", GET + b"X: y\n\r\n", REFUSED
    yield "LF LF at the end", GET + b"X: y\n\n" + HIDDEN, REFUSED
    yield "CR LF LF at the end", GET + b"X: y\r\n\n" + HIDDEN, REFUSED
    yield "CR CR LF at the end", GET + b"X: y\r\r\n\r\n", REFUSED
    yield "CR everywhere", b"GET @t HTTP/1.1\rHost: @host\r\r" + HIDDEN, REFUSED
    yield "CR in a value", GET + b"X: a\rb\r\n\r\n", REFUSED
    yield "CR before a name", GET + b"\rX: a\r\n\r\n", REFUSED
    yield "CR in a name", GET + b"X\rY: a\r\n\r\n", REFUSED
    yield "CR behind a colon", GET + b"X:\ra\r\n\r\n", REFUSED
    for byte in [0x00, 0x01, 0x08, 0x0B, 0x0C, 0x1B, 0x7F]:
        one = bytes([byte])
        yield f"{byte:#04x} in a value", GET + b"X: a" + one + b"b\r\n\r\n", REFUSED
        yield f"{byte:#04x} in a name", GET + b"X" + one + b"Y: a\r\n\r\n", REFUSED
        yield f"{byte:#04x} in the target", b"GET @t" + one + b"x HTTP/1.1\r\n" + HOST + b"\r\n", REFUSED
    for name in [b"", b" X", b"X ", b"X Y", b"X\t", b"X(Y)", b"X\xe9", b"\"X\"", b"X/Y", b"X,Y", b"X=Y ", b"[X]",
        b"X@Y", b"{X}"]:
        yield f"name {name!r}", GET + name + b": a\r\n\r\n", REFUSED
    yield "a line without a colon", GET + b"X\r\n\r\n", REFUSED
    yield "a folded value", GET + b"X: a\r\n b\r\n\r\n", REFUSED
    yield "a value folded with a tab", GET + b"X: a\r\n\tb\r\n\r\n", REFUSED
    yield "a first line that is folded", b"GET @t HTTP/1.1\r\n " + HOST + b"\r\n", REFUSED
    yield "obs-text in a value", GET + b"X: caf\xc3\xa9\r\n\r\n", ONE
    yield "an empty value", GET + b"X:\r\nY: \t \r\n\r\n", ONE
    yield "odd but legal names", GET + b"!#$%&'*+-.^_`|~: a\r\n\r\n", ONE
    yield "one empty line before", b"\r\n" + GET + b"\r\n", ONE
    yield "two empty lines before", b"\r\n\r\n" + GET + b"\r\n", REFUSED
    yield "an empty line with LF before", b"\n" + GET + b"\r\n", REFUSED
    yield "CR before", b"\r" + GET + b"\r\n", REFUSED
    yield "an encoded line end in a value", GET + b"X: a%0d%0aY: b\r\n\r\n", ONE
    yield "a line separator of Unicode in a value", GET + b"X: a\xe2\x80\xa8Y: b\r\n\r\n", ONE
    yield "NEL in a value", GET + b"X: a\xc2\x85Y: b\r\n\r\n", ONE
    yield "an encoded line end as wide characters", GET + b"X: a\xe5\x98\x8d\xe5\x98\x8aY: b\r\n\r\n", ONE


def hosts():
    """Host and the authority of an absolute target. RFC 9112 §3.2"""
    yield "no Host", b"GET @t HTTP/1.1\r\n\r\n", REFUSED
    yield "an empty Host", b"GET @t HTTP/1.1\r\nHost:\r\n\r\n", REFUSED
    yield "two equal Hosts", GET + HOST + b"\r\n", REFUSED
    yield "two Hosts", GET + b"Host: evil.example.com\r\n\r\n", REFUSED
    yield "two Hosts, one in capitals", b"GET @t HTTP/1.1\r\nHOST: evil.example.com\r\n" + HOST + b"\r\n", REFUSED
    for host in [b"@host/x", b"user@@host", b"@host, @host", b"@host @host", b"@host,evil", b"@host#x", b"@host?x",
        b"@host\\x",
                 b"@host:80", b"http://@host", b"@host\x00", b"@host%00", b"@host;x", b"\"@host\""]:
        yield f"Host {host!r}", b"GET @t HTTP/1.1\r\nHost: " + host + b"\r\n\r\n", REFUSED
    for host in [b"evil.example.com", b"[@host]", b"127.0.0.1", b"127.0.0.1:1", b"localhost.evil.example.com", b"0"]:
        yield f"Host {host!r}", b"GET @t HTTP/1.1\r\nHost: " + host + b"\r\n\r\n", NOT_SERVED
    yield "Host with a space before the colon", b"GET @t HTTP/1.1\r\nHost : @host\r\n\r\n", REFUSED
    yield "Host folded", b"GET @t HTTP/1.1\r\nHost:\r\n @host\r\n\r\n", REFUSED
    yield (
        "X-Host and X-Forwarded-Host", GET + b"X-Host: evil\r\nX-Forwarded-Host: evil\r\nForwarded: host=evil\r\n\r\n",
        ONE)
    yield "an absolute target", b"GET http://@host@t HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield "an absolute target of another host", b"GET http://evil.example.com@t HTTP/1.1\r\n" + HOST + b"\r\n", REFUSED
    yield (
        "an absolute target with another Host", b"GET http://@host@t HTTP/1.1\r\nHost: evil.example.com\r\n\r\n",
        NOT_SERVED)
    yield "an absolute target with user information", b"GET http://u@@host@t HTTP/1.1\r\n" + HOST + b"\r\n", REFUSED
    yield "an absolute target without a path", b"GET http://@host HTTP/1.1\r\n" + HOST + b"\r\n", NOT_SERVED
    yield "an absolute target with a backslash", b"GET http://@host\\@t HTTP/1.1\r\n" + HOST + b"\r\n", REFUSED
    yield "an absolute target without Host", b"GET http://@host@t HTTP/1.1\r\n\r\n", REFUSED
    yield "a target with //", b"GET //@host@t HTTP/1.1\r\n" + HOST + b"\r\n", NOT_SERVED


def request_lines():
    """RFC 9112 §3"""
    for line in [
        b"GET\t@t\tHTTP/1.1", b"GET  @t HTTP/1.1", b"GET @t  HTTP/1.1", b" GET @t HTTP/1.1", b"GET @t HTTP/1.1 ",
        b"GET @t HTTP/1.1\t",
        b"GET @t", b"GET @t ", b"GET HTTP/1.1", b"GET  HTTP/1.1", b"@t HTTP/1.1", b"GET @t HTTP/1.2",
        b"GET @t HTTP/2.0",
        b"GET @t HTTP/0.9", b"GET @t HTTP/1.", b"GET @t HTTP/1", b"GET @t HTTP/11", b"GET @t HTTP/1.10",
        b"GET @t HTTP/01.1",
        b"GET @t http/1.1", b"GET @t Http/1.1", b"GET @t HTTP /1.1", b"GET @t HTTP/ 1.1", b"GET @t HTTP/1,1",
        b"GET @t HTTPS/1.1",
        b"GET @t ICY/1.1", b"GET @t HTTP/+1.1", b"GET @t HTTP/1.1 HTTP/1.1", b"GET @t x HTTP/1.1",
        b"GET @t\x0bHTTP/1.1",
        b"G ET @t HTTP/1.1", b"GE\x00T @t HTTP/1.1", b"G\xc9T @t HTTP/1.1", b"G{T @t HTTP/1.1", b"GET: @t HTTP/1.1",
        b"\"GET\" @t HTTP/1.1",
        b"X" * 40 + b" @t HTTP/1.1", b"GET @t#x HTTP/1.1", b"GET @t\xc3\xa9 HTTP/1.1", b"GET @t\xa0 HTTP/1.1",
        b"GET @t\xe2\x80\xa8 HTTP/1.1", b"GET @t% HTTP/1.1", b"GET @t%0 HTTP/1.1", b"GET @t%zz HTTP/1.1",
        b"GET @t/../x HTTP/1.1",
        b"GET @t/%2e%2e/x HTTP/1.1", b"GET @t/..%2fx HTTP/1.1", b"GET @t/..\\x HTTP/1.1", b"GET @t/..;/x HTTP/1.1",
        b"GET @t/./x HTTP/1.1",
        b"GET * HTTP/1.1", b"OPTIONS * HTTP/1.1", b"GET x@t HTTP/1.1", b"GET ?x HTTP/1.1", b"GET http:@t HTTP/1.1",
        b"GET http:/@t HTTP/1.1",
        b"GET http://@t HTTP/1.1", b"PRI * HTTP/2.0", b"\x16\x03\x01\x00\xc4", b"\x80.\x01\x00\x02",
    ]:
        yield f"line {line!r}", line + b"\r\n" + HOST + b"\r\n", REFUSED
    yield "an encoded line end in the target", b"GET @t%0d%0aX:%20y HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield (
        "an encoded request in the target",
        b"GET @t%20HTTP/1.1%0d%0aHost:%20x%0d%0a%0d%0a HTTP/1.1\r\n" + HOST + b"\r\n", ONE)
    yield "an encoded NUL in the target", b"GET @t%00 HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield "an encoded slash in the target", b"GET @t%2fx HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield "odd bytes in the target", b"GET @t/\"<>[]{}|^`\\' HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield "a query with everything", b"GET @t?a=b&c=http://x/%0d%0a?;\"<>\\^|` HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield "an empty query", b"GET @t? HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield "a method in lower case", b"get @t HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield "a method of one's own", b"M-SEARCH @t HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield "PRI", b"PRI @t HTTP/1.1\r\n" + HOST + b"\r\n", ONE
    yield "HTTP/1.0", b"GET @t HTTP/1.0\r\n" + HOST + b"\r\n", CLOSES
    yield "HTTP/1.0, kept alive", b"GET @t HTTP/1.0\r\n" + HOST + b"Connection: keep-alive\r\n\r\n", ONE
    yield "HTTP/1.0 without Host", b"GET @t HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", REFUSED
    for method in [b"TRACE", b"TrAcE", b"TRACK", b"track", b"trace"]:
        yield f"{method!r}", method + b" @t HTTP/1.1\r\n" + HOST + b"\r\n", NOT_SERVED
    for method in [b"CONNECT", b"connect", b"Connect"]:
        yield f"{method!r} with a path", method + b" @t HTTP/1.1\r\n" + HOST + b"\r\n", NOT_SERVED
        yield f"{method!r} with an authority", method + b" 127.0.0.1:22 HTTP/1.1\r\n" + HOST + b"\r\n", NOT_SERVED


def fields():
    """Upgrades, Expect, Connection options, and heads that are too much."""
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")
    yield "an HTTP/2 preface", preface, REFUSED
    yield "an HTTP/2 preface behind a request", GET + b"\r\n" + preface, ONE_AND_REFUSED
    h2c = b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n"
    yield "Upgrade: h2c", GET + h2c + b"Connection: Upgrade, HTTP2-Settings\r\n\r\n", ONE
    yield "Upgrade: h2c, Connection names only Upgrade", GET + h2c + b"Connection: Upgrade\r\n\r\n", ONE
    yield "Upgrade: h2c without Connection", GET + h2c + b"\r\n", ONE
    yield (
        "Upgrade: h2c and a preface", GET + h2c + b"Connection: Upgrade, HTTP2-Settings\r\n\r\n" + preface,
        ONE_AND_REFUSED)
    websocket = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    yield "Upgrade: websocket", GET + websocket + b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", ONE
    yield "Expect: 100-continue", sized(b"12345", b"Expect: 100-continue\r\n"), ONE
    yield "Expect: 100-Continue", sized(b"12345", b"expect: 100-Continue\r\n"), ONE
    yield "Expect without a body", GET + b"Expect: 100-continue\r\n\r\n", ONE
    for value in [b"x", b"", b"100-continue, x", b"100-continue;q=1", b"200-ok",
        b"100-continue\r\nExpect: 100-continue", b"\x0b100-continue"]:
        yield f"Expect: {value!r}", sized(HIDDEN, b"Expect: " + value + b"\r\n"), REFUSED
    yield "Expect folded", sized(HIDDEN, b"Expect:\r\n 100-continue\r\n"), REFUSED
    for option in [b"Authorization", b"Content-Length", b"Host", b"Transfer-Encoding", b"Cookie, X-Forwarded-For",
        b"close, Content-Length",
                   b"keep-alive, close", b"DPoP", b",,,", b"upgrade", b"Connection"]:
        expected = CLOSES if b"close" in option else ONE
        yield f"Connection: {option!r}", sized(b"12345", b"Connection: " + option + b"\r\n"), expected
    yield (
        "Connection: Transfer-Encoding with chunks",
        POST + b"Connection: Transfer-Encoding\r\n" + TE + b"\r\n" + chunk(b"abc") + NO_CHUNKS, ONE)
    yield (
        "two Connections", POST + b"Connection: keep-alive\r\nConnection: Content-Length\r\n" + CL5 + b"\r\n12345", ONE)
    for option in [b"Content Length", b"\"Content-Length\"", b"x;y", b"Content-Length:"]:
        yield f"Connection: {option!r}", sized(b"12345", b"Connection: " + option + b"\r\n"), REFUSED
    yield (
        "the caller's credentials", GET + b"Authorization: Bearer x\r\nDPoP: x\r\nProxy-Authorization: Basic x\r\n\r\n",
        ONE)
    yield "two Authorizations", GET + b"Authorization: Bearer x\r\nauthorization: Bearer y\r\n\r\n", ONE
    yield (
        "another URL on the side",
        GET + b"X-Original-URL: /s\r\nX-Rewrite-URL: /s\r\nX-HTTP-Method-Override: PUT\r\n\r\n", ONE)
    hop_by_hop = b"Keep-Alive: timeout=1\r\nTE: trailers\r\nTrailer: Host\r\nProxy-Connection: close\r\n"
    yield "hop-by-hop fields", POST + hop_by_hop + TE + b"\r\n" + NO_CHUNKS, ONE
    yield "a head that is too large", GET + b"X: " + b"y" * 40_000 + b"\r\n\r\n", TOO_LARGE
    yield "a head that never ends", GET + (b"X: " + b"y" * 100 + b"\r\n") * 600, TOO_LARGE
    yield "too many fields", GET + b"".join(b"X%d: y\r\n" % n for n in range(120)) + b"\r\n", TOO_LARGE
    yield "a target that is too long", b"GET @t?" + b"x" * 20_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", TOO_LARGE
    yield "many fields", GET + b"".join(b"X%d: y\r\n" % n for n in range(80)) + b"\r\n", ONE
    yield "a long field", GET + b"X: " + b"y" * 7_000 + b"\r\n\r\n", ONE
