"""What the requests in `bodies` and `heads` are made of, and what is expected of them.

In the bytes: @t the target of the case, @s one that no server may ever see, @u a second one that is meant to be seen,
@r the path of the route, @id the name of the case, @host the gateway's own authority. `spell` puts in names of the
length that the real ones have, so that lengths can be counted.
"""

NAME, ROUTE, AUTHORITY = b"k000000k", b"/RR", b"127.0.0.1:PPPPP"
SPELLINGS = {
    b"@host": AUTHORITY, b"@id": NAME, b"@r": ROUTE, b"@t": ROUTE + b"/case-" + NAME, b"@s": ROUTE + b"/hidden-" + NAME,
    b"@u": ROUTE + b"/second-" + NAME, b"@m": ROUTE + b"/marker-" + NAME,
}


def spell(raw):
    for place, name in SPELLINGS.items():
        raw = raw.replace(place, name)
    return raw


REFUSED = "an own 400, then closed; nothing was forwarded"
TOO_LARGE = "an own 431, then closed; nothing was forwarded"
BODY_REFUSED = "the head was forwarded, the body broken off: an own 400, then closed"
ONE = "one answer; what follows has its own"
TWO = "two answers; what follows has its own"
EARLY = "one answer; what follows has its own, or the connection closes"
CLOSES = "one answer, then closed as the client asked: what it sends in spite of that may destroy the answer"
NOT_SERVED = "an own answer that is no 400; what follows has its own, or the connection closes"
ONE_AND_REFUSED = "one answer, then an own 400, then closed"
STARVED = "more is waited for: what follows is a part of it"

HOST = b"Host: @host\r\n"
GET = b"GET @t HTTP/1.1\r\n" + HOST
POST = b"POST @t HTTP/1.1\r\n" + HOST
HIDDEN = spell(b"GET @s HTTP/1.1\r\n" + HOST + b"\r\n")
SECOND = b"GET @u HTTP/1.1\r\n" + HOST + b"\r\n"
CL5, TE = b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"
NO_CHUNKS = b"0\r\n\r\n"


def sized(body, more=b""):
    body = spell(body)
    return POST + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunk(data, extension=b""):
    data = spell(data)
    return b"%x%s\r\n%s\r\n" % (len(data), extension, data)
