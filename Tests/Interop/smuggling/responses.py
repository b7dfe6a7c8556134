"""What a server may answer to make a gateway count responses differently, and so give one client another's.

Each comes with the method it answers and with what the server does then: "keep", "close" or "reset" the connection.
"""

from collections import namedtuple

REFUSED = "502 upstream_protocol; the connection is not used again"
CLOSED = "502 upstream_closed"
BROKEN_OFF = "begun and then broken off, for breaking HTTP"
CUT = "begun and then broken off, because the server did"
CLEAN = "passed on; the connection may be used again"
SPOILT = "passed on; the connection is not used again"
LATE = "passed on; what comes behind it on the idle connection closes that"

Reply = namedtuple("Reply", "name raw expected method then body", defaults=["GET", "keep", b"hello"])

SECOND = b"HTTP/1.1 200 OK\r\nSeen: GET /hidden\r\nContent-Length: 6\r\n\r\nHIDDEN"
CL5, TE = b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"
HELLO, NO_CHUNKS = b"5\r\nhello\r\n", b"0\r\n\r\n"


def ok(fields, body=b"hello", line=b"HTTP/1.1 200 OK"):
    return line + b"\r\n" + fields + b"\r\n" + body


def framing():
    """RFC 9112 §6"""
    for name, fields in {
        "CL then TE": CL5 + TE, "TE then CL": TE + CL5, "CL 0 and TE": b"Content-Length: 0\r\n" + TE,
        "TE twice": TE * 2,
        "two equal CLs": CL5 * 2, "two CLs": CL5 + b"Content-Length: 0\r\n",
        "TE identity, TE chunked": b"Transfer-Encoding: identity\r\n" + TE,
        "CL folded": b"Content-Length:\r\n 5\r\n", "TE folded": b"Transfer-Encoding:\r\n chunked\r\n",
        "CL with a space": b"Content-Length : 5\r\n",
        "TE with a space": b"Transfer-Encoding : chunked\r\n" + CL5,
        "TE with a tab": b"Transfer-Encoding\t: chunked\r\n" + CL5,
    }.items():
        yield Reply(name, ok(fields, HELLO + NO_CHUNKS + SECOND), REFUSED)
    for value in [b"+5", b"-5", b"0x5", b"5, 5", b"5,6", b"5 5", b"", b"five", b"5.0", b"\x0b5", b"5\x00",
        b"9223372036854775808", b"9" * 99]:
        yield Reply(f"CL {value[:20]!r}", ok(b"Content-Length: " + value + b"\r\n") + SECOND, REFUSED)
    for value in [b"xchunked", b"chunked, identity", b"identity", b"gzip", b"gzip, chunked", b"chunked,",
        b"\x0bchunked", b"chunked, chunked", b"",
                  b"\"chunked\"", b"chunked;q=1"]:
        yield Reply(f"TE {value!r}", ok(b"Transfer-Encoding: " + value + b"\r\n", HELLO + NO_CHUNKS), REFUSED)
    yield Reply("TE in HTTP/1.0", ok(TE, HELLO + NO_CHUNKS, b"HTTP/1.0 200 OK"), REFUSED)
    yield Reply("CL", ok(CL5), CLEAN)
    yield Reply("CL with whitespace around", ok(b"Content-Length: \t5 \r\n"), CLEAN)
    yield Reply("CL with leading zeros", ok(b"Content-Length: 0005\r\n"), CLEAN)
    yield Reply("chunks", ok(TE, HELLO + NO_CHUNKS), CLEAN)
    yield Reply("chunks with extensions", ok(TE, b"5;a=\"\\\"b\" ;c\r\nhello\r\n0;x\r\n\r\n"), CLEAN)
    yield Reply("chunks of one byte", ok(TE, b"".join(b"01\r\n%c\r\n" % byte for byte in b"hello") + NO_CHUNKS), CLEAN)
    yield Reply("a response in a chunk", ok(TE, b"%x\r\n%s\r\n" % (len(SECOND), SECOND) + NO_CHUNKS), CLEAN,
        body=SECOND)
    yield Reply("up to the end", ok(b""), SPOILT, then="close")
    yield Reply("two responses up to the end", ok(b"", SECOND), SPOILT, then="close", body=SECOND)
    yield Reply("HTTP/1.0", ok(CL5, line=b"HTTP/1.0 200 OK"), SPOILT)
    yield Reply("HTTP/1.0 kept alive", ok(b"Connection: keep-alive\r\n" + CL5, line=b"HTTP/1.0 200 OK"), CLEAN)
    yield Reply("CL named by Connection", ok(b"Connection: Content-Length\r\n" + CL5), CLEAN)
    yield Reply("TE named by Connection", ok(b"Connection: Transfer-Encoding\r\n" + TE, HELLO + NO_CHUNKS), CLEAN)
    yield Reply("Content_Length", ok(b"Content_Length: 99\r\n" + CL5), CLEAN)
    for trailer in [b"Content-Length: 99", b"Transfer-Encoding: x", b"Connection: close", b"Set-Cookie: a=b",
        b"Proofd-Error: x"]:
        yield Reply(f"trailer {trailer!r}", ok(TE, HELLO + b"0\r\n" + trailer + b"\r\n\r\n"), CLEAN)


def surplus():
    """Bytes behind the end of the response."""
    for name, more in {
        "a response": SECOND, "a line end": b"\r\n", "NUL": b"\0", "a letter": b"x", "half a head": SECOND[:20],
        "a request": b"GET / HTTP/1.1\r\n\r\n",
    }.items():
        yield Reply(name + " behind CL", ok(CL5) + more, SPOILT)
        yield Reply(name + " behind CL 0", ok(b"Content-Length: 0\r\n", b"") + more, SPOILT, body=b"")
        yield Reply(name + " behind chunks", ok(TE, HELLO + NO_CHUNKS) + more, SPOILT)
        yield Reply(name + " behind 204", ok(b"", b"", b"HTTP/1.1 204 No Content") + more, SPOILT, body=b"")
        yield Reply(name + " behind 304", ok(CL5, b"", b"HTTP/1.1 304 Not Modified") + more, SPOILT, body=b"")
        yield Reply(name + " behind HEAD", ok(CL5, b"") + more, SPOILT, "HEAD", body=b"")
        yield Reply(name + " later", ok(CL5) + b"@later" + more, LATE)
    yield Reply("HEAD with a body", ok(CL5), SPOILT, "HEAD", body=b"")
    yield Reply("HEAD with chunks", ok(TE, HELLO + NO_CHUNKS), SPOILT, "HEAD", body=b"")
    yield Reply("304 with a body", ok(CL5, line=b"HTTP/1.1 304 Not Modified"), SPOILT, body=b"")
    yield Reply("304 with chunks", ok(TE, HELLO + NO_CHUNKS, b"HTTP/1.1 304 Not Modified"), SPOILT, body=b"")
    yield Reply("204 with CL", ok(CL5, line=b"HTTP/1.1 204 No Content"), REFUSED)
    yield Reply("204 with chunks", ok(TE, HELLO + NO_CHUNKS, b"HTTP/1.1 204 No Content"), REFUSED)
    yield Reply("Connection: close and more", ok(b"Connection: close\r\n" + CL5) + SECOND, SPOILT)
    yield Reply("Connection: close, but open", ok(b"Connection: close\r\n" + CL5), SPOILT)
    yield Reply("Connection: keep-alive, but closed", ok(b"Connection: keep-alive\r\n" + CL5), CLEAN, then="close")
    yield Reply("closed behind CL", ok(CL5), CLEAN, then="close")
    yield Reply("reset behind CL", ok(CL5), CLEAN, then="reset")


def heads():
    """RFC 9112 §4, §5"""
    for line in [
        b"HTTP/1.1 20", b"HTTP/1.1 20 OK", b"HTTP/1.1 200OK", b"HTTP/1.1 99 X", b"HTTP/1.1 1000 X", b"HTTP/1.1 600 X",
        b"HTTP/1.1 000 X", b"HTTP/1.1 -20 X",
        b"HTTP/1.1 2x0 X", b"HTTP/1.1  200 OK", b"HTTP/1.1\t200 OK", b"HTTP/1.1 200\tOK", b"HTTP/1.1", b"HTTP/1.1 ",
        b"HTTP/1.2 200 OK", b"HTTP/2 200",
        b"HTTP/2.0 200 OK", b"HTTP/0.9 200 OK", b"http/1.1 200 OK", b"HTTP 200 OK", b"ICY 200 OK", b" HTTP/1.1 200 OK",
        b"\r\nHTTP/1.1 200 OK",
        b"\nHTTP/1.1 200 OK", b"xHTTP/1.1 200 OK", b"HTTP/1.1 200 O\x00K", b"HTTP/1.1 200 O\rK", b"HTTP/1.1 200 O\nK",
        b"HTTP/1.1 200 O\x1bK",
        b"GET / HTTP/1.1", b"<html>", b"\x15\x03\x01\x00\x02\x02", b"SSH-2.0-x", b"hello", b"HTTP/11 200 OK",
        b"HTTP/1.1 +200 OK", b"HTTP/1.1 2 00 OK",
    ]:
        yield Reply(f"line {line!r}", ok(CL5, line=line) + SECOND, REFUSED)
    for name, field in {
        "a folded value": b"X: a\r\n b\r\n", "a folded first line": b" X: a\r\n",
        "a space before the colon": b"X : a\r\n", "no colon": b"X\r\n",
        "an empty name": b": a\r\n", "NUL in a name": b"X\0: a\r\n", "NUL in a value": b"X: \0\r\n",
        "VT in a value": b"X: \x0b\r\n",
        "DEL in a value": b"X: \x7f\r\n", "ESC in a value": b"X: \x1b[2J\r\n",
        "CR in a value": b"X: a\rSet-Cookie: b\r\n", "LF in a value": b"X: a\nSet-Cookie: b\r\n",
        "LF behind a field": b"X: a\n", "LF CR behind a field": b"X: a\n\r", "CR CR LF behind a field": b"X: a\r\r\n",
        "a space in a name": b"X Y: a\r\n",
        "a name that is not ASCII": b"X\xe9: a\r\n", "Connection that is no list": b"Connection: a b\r\n",
        "a huge field": b"X: " + b"y" * 40_000 + b"\r\n",
        "many fields": b"".join(b"X%d: y\r\n" % n for n in range(150)),
    }.items():
        yield Reply(name, ok(field + CL5) + SECOND, REFUSED)
    yield Reply("LF everywhere", ok(CL5).replace(b"\r\n", b"\n") + SECOND, REFUSED)
    yield Reply("CR everywhere", ok(CL5).replace(b"\r\n", b"\r") + SECOND, REFUSED)
    yield Reply("LF LF at the end", b"HTTP/1.1 200 OK\r\nContent-Length: 5\n\nhello" + SECOND, REFUSED)
    yield Reply("CR LF LF at the end", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\nhello" + SECOND, REFUSED)
    yield Reply("a head that never ends", ok((b"X: " + b"y" * 1000 + b"\r\n") * 40)[:36_000], REFUSED)
    for name, field in {
        "encoded line ends": b"X: a%0d%0aSet-Cookie: b\r\n",
        "wide line ends": b"X: a\xe5\x98\x8d\xe5\x98\x8aSet-Cookie: b\r\n", "obs-text": b"X: caf\xe9\r\n",
        "an own error": b"Proofd-Error: bad_request\r\nproofd-x: y\r\n",
        "hop-by-hop fields": b"Keep-Alive: timeout=1\r\nProxy-Authenticate: Basic\r\nUpgrade: h2c\r\n",
        "a nonce": b"DPoP-Nonce: abc\r\n", "a field Connection names": b"Connection: X-Secret\r\nX-Secret: y\r\n",
        "an empty value": b"X:\r\n",
    }.items():
        yield Reply(name, ok(field + CL5), CLEAN)
    for line in [b"HTTP/1.1 200", b"HTTP/1.1 200 ", b"HTTP/1.1 200 caf\xe9", b"HTTP/1.1 299 X",
        b"HTTP/1.1 418 I'm a teapot", b"HTTP/1.1 599 X", b"HTTP/1.1 205 X"]:
        yield Reply(f"line {line!r}", ok(CL5, line=line), CLEAN)


def interim():
    """1xx. RFC 9110 §15.2"""
    hundred, hints = b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    yield Reply("100 nobody asked for", hundred + ok(CL5), CLEAN)
    yield Reply("103 and 100", hints + hundred + hints + ok(CL5), CLEAN)
    yield Reply("199", b"HTTP/1.1 199 X\r\n\r\n" + ok(CL5), CLEAN)
    yield Reply("a flood of 100", hundred * 500 + ok(CL5), REFUSED)
    yield Reply("100 with CL", b"HTTP/1.1 100 Continue\r\n" + CL5 + b"\r\n" + ok(CL5), REFUSED)
    yield Reply("103 with chunks", b"HTTP/1.1 103 Early Hints\r\n" + TE + b"\r\n" + ok(CL5), REFUSED)
    yield Reply("100 with a body", hundred + b"hello" + ok(CL5), REFUSED)
    yield Reply("100 with LF", b"HTTP/1.1 100 Continue\n\n" + ok(CL5), REFUSED)
    upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
    yield Reply("101 nobody asked for", ok(upgrade, b"", b"HTTP/1.1 101 Switching Protocols") + SECOND, REFUSED)
    yield Reply("101 without Upgrade", ok(b"", b"", b"HTTP/1.1 101 X") + SECOND, REFUSED)
    yield Reply("100 and 101", hundred + ok(upgrade, b"", b"HTTP/1.1 101 X") + SECOND, REFUSED)
    yield Reply("100 and nothing", hundred, CLOSED, then="close")


def chunks():
    """RFC 9112 §7.1"""
    for name, body in {
        "0x": b"0x5\r\nhello\r\n", "a negative size": b"-5\r\nhello\r\n", "no size": b"\r\nhello\r\n",
        "a size that is none": b"zz\r\n",
        "a space behind the size": b"5 \r\nhello\r\n", "a space before the size": b" 5\r\nhello\r\n",
        "an overflow": b"1" + b"0" * 16 + b"5\r\nhello\r\n",
        "LF behind the size": b"5\nhello\r\n", "LF behind the data": b"5\r\nhello\n",
        "nothing behind the data": b"5\r\nhello0\r\n\r\n",
        "LF in an extension": b"5;\n\r\nhello\r\n", "NUL in the size": b"5\0\r\nhello\r\n",
        "LF at the end": HELLO + b"0\r\n\n", "LF LF at the end": HELLO + b"0\n\n",
        "a trailer without a colon": HELLO + b"0\r\nX\r\n\r\n", "a response as trailers": HELLO + b"0\r\n" + SECOND,
        "a huge extension": b"5;" + b"a" * 5000 + b"\r\n",
        "a folded trailer": HELLO + b"0\r\nX: y\r\n z\r\n\r\n",
        "trailers without an end": HELLO + b"0\r\n" + b"X: y\r\n" * 80,
    }.items():
        yield Reply(name, ok(TE, body) + SECOND, BROKEN_OFF)


def truncated():
    whole, chunked = ok(CL5), ok(TE, HELLO + NO_CHUNKS)
    for then in ["close", "reset"]:
        yield Reply(f"nothing, {then}", b"", CLOSED, then=then)
        for size in [1, 12, 17, 30, len(whole) - 6]:
            yield Reply(f"{size} bytes of a head, {then}", whole[:size], CLOSED, then=then)
        for size in [len(whole) - 5, len(whole) - 1]:
            yield Reply(f"{size} bytes of a response, {then}", whole[:size], CUT, then=then)
        for size in [47, 48, 50, 52, 56, 57, 58, len(chunked) - 1]:
            yield Reply(f"{size} bytes of a chunked response, {then}", chunked[:size], CUT, then=then)


GROUPS = [framing, surplus, heads, interim, chunks, truncated]
REPLIES = [reply._replace(name=f"{group.__name__}: {reply.name}") for group in GROUPS for reply in group()]
