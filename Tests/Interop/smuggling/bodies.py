"""Requests whose body ends in one place for one reader and in another for the next."""

from smuggling.vocabulary import (
    BODY_REFUSED, CL5, EARLY, GET, HIDDEN, HOST, NO_CHUNKS, ONE, POST, REFUSED, SECOND, STARVED, TE, TWO, chunk, sized,
)


def lengths():
    """Content-Length, with and without Transfer-Encoding. RFC 9112 §6"""
    for one, two in [(CL5, TE), (TE, CL5)]:
        which = "CL then TE" if one is CL5 else "TE then CL"
        yield which, POST + one + two + b"\r\n" + NO_CHUNKS + HIDDEN, REFUSED
        yield which + " with a field between", POST + one + b"X: y\r\n" + two + b"\r\n" + NO_CHUNKS + HIDDEN, REFUSED
        yield which + " in a GET", GET + one + two + b"\r\n" + NO_CHUNKS + HIDDEN, REFUSED
    yield "CL 0 and TE", POST + b"Content-Length: 0\r\n" + TE + b"\r\n" + chunk(HIDDEN) + NO_CHUNKS, REFUSED
    yield "CL, TE, CL", POST + CL5 + TE + CL5 + b"\r\n" + NO_CHUNKS + HIDDEN, REFUSED
    yield "two equal CLs", POST + CL5 * 2 + b"\r\n12345", REFUSED
    yield "two CLs", POST + CL5 + b"Content-Length: 0\r\n\r\n12345", REFUSED
    yield "two CLs in other cases", POST + b"content-length: 0\r\nCONTENT-LENGTH: 5\r\n\r\n12345", REFUSED
    refused = [
        b"+5", b"-5", b"0x5", b"5, 5", b"5,5", b"5,", b",5", b"5 5", b"5;q=1", b"5.0", b"5e0", b"", b"five", b"\"5\"",
        b"\x0b5", b"5\x0b", b"5\x00", b"\xa05", b"\xef\xbc\x95", b"18446744073709551621", b"9223372036854775808",
        b"9" * 200,
    ]
    for value in refused:
        yield f"CL {value[:30]!r}", POST + b"Content-Length: " + value + b"\r\n\r\n12345" + HIDDEN, REFUSED
    yield "CL with whitespace around", POST + b"Content-Length: \t 5 \t\r\n\r\n12345", ONE
    yield "CL without whitespace", POST + b"Content-Length:5\r\n\r\n12345", ONE
    yield "CL with leading zeros", POST + b"Content-Length: 0005\r\n\r\n12345", ONE
    yield "CL 0 and a second request", POST + b"Content-Length: 0\r\n\r\n" + SECOND, TWO
    yield "POST without a length", POST + b"\r\n" + SECOND, TWO
    yield "POST with a request as its body", sized(HIDDEN), ONE
    yield "GET with a body", GET + CL5 + b"\r\n12345", ONE
    yield (
        "GET with a request as its body", GET + b"Content-Length: %d\r\n\r\n" % (len(HIDDEN) + 9) + HIDDEN + b"x" * 9,
        ONE)
    yield "HEAD with a body", b"HEAD @t HTTP/1.1\r\n" + HOST + CL5 + b"\r\n12345", ONE
    yield "HEAD and GET", b"HEAD @t HTTP/1.1\r\n" + HOST + b"\r\n" + SECOND, TWO
    yield "POST and GET", sized(b"12345") + SECOND, TWO
    yield "chunked POST and GET", POST + TE + b"\r\n" + chunk(b"abc") + NO_CHUNKS + SECOND, TWO
    yield "a body that is too short", POST + b"Content-Length: 5000\r\n\r\n" + HIDDEN, STARVED
    yield "Content_Length", POST + b"Content_Length: 99\r\n" + CL5 + b"\r\n12345", ONE
    yield "Content-Length with a space before the colon", POST + b"Content-Length : 5\r\n\r\n12345", REFUSED
    yield "Content-Length with a tab before the colon", POST + b"Content-Length\t: 5\r\n\r\n12345", REFUSED
    yield (
        "Content-Length twice, one with a space", POST + b"Content-Length : 5\r\nContent-Length: 0\r\n\r\n" + HIDDEN,
        REFUSED)


def codings():
    """Transfer-Encoding. RFC 9112 §6.1"""
    refused = [
        b"chunked, identity", b"identity, chunked", b"identity", b"xchunked", b"chunkedx", b"chunked, chunked", b"gzip",
        b"gzip, chunked", b"chunked;q=1", b"chunked,", b",chunked", b"\"chunked\"", b"'chunked'", b"\x0bchunked",
        b"chunked\x0b", b"\x00chunked", b"chunked\x00", b"chun\xc5\xbfed", b"chunke", b"", b"\xffchunked",
        b"chunked\x7f",
        b"cow", b"chunked cow",
    ]
    for value in refused:
        yield f"TE {value!r}", POST + b"Transfer-Encoding: " + value + b"\r\n\r\n" + NO_CHUNKS + HIDDEN, REFUSED
    with_body = b"\r\n" + chunk(b"abc") + NO_CHUNKS
    yield "TE chunked", POST + TE + with_body, ONE
    yield "TE after a tab", POST + b"Transfer-Encoding:\tchunked" + b"\r\n" + with_body, ONE
    yield "TE ChUnKeD", POST + b"tRANSFER-eNCODING: ChUnKeD\r\n" + with_body, ONE
    yield "TE in a GET", GET + TE + with_body, ONE
    yield "TE twice", POST + TE * 2 + with_body, REFUSED
    yield "TE identity and TE chunked", POST + b"Transfer-Encoding: identity\r\n" + TE + with_body, REFUSED
    yield "TE folded", POST + b"Transfer-Encoding:\r\n chunked\r\n" + with_body, REFUSED
    yield "TE in a folded line", POST + b"X: y\r\n Transfer-Encoding: chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS, REFUSED
    yield (
        "TE with a space before the colon", POST + b"Transfer-Encoding : chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS,
        REFUSED)
    yield (
        "TE with a space before the name", POST + b" Transfer-Encoding: chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS,
        REFUSED)
    yield "TE with NUL in the name", POST + b"Transfer\x00-Encoding: chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS, REFUSED
    yield "TE behind a bare CR", POST + b"X: y\rTransfer-Encoding: chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS, REFUSED
    yield "TE behind a bare LF", POST + b"X: y\nTransfer-Encoding: chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS, REFUSED
    yield "TE behind LF CR", POST + b"X: y\n\rTransfer-Encoding: chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS, REFUSED
    yield "Transfer_Encoding", POST + b"Transfer_Encoding: chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS, ONE
    yield "Transfer.Encoding", POST + b"Transfer.Encoding: chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS, ONE
    yield "X-Transfer-Encoding", POST + b"X-Transfer-Encoding: chunked\r\n" + CL5 + b"\r\n" + NO_CHUNKS, ONE
    yield "TE in HTTP/1.0", b"POST @t HTTP/1.0\r\n" + HOST + TE + with_body, REFUSED
    yield (
        "TE in HTTP/1.0, kept alive", b"POST @t HTTP/1.0\r\nConnection: keep-alive\r\n" + HOST + TE + with_body,
        REFUSED)


def chunks():
    """The chunked coding. RFC 9112 §7.1"""
    broken = {
        "a size with 0x": b"0x5\r\nabcde\r\n", "a negative size": b"-5\r\nabcde\r\n",
        "a signed size": b"+5\r\nabcde\r\n",
        "no size": b"\r\nabcde\r\n", "a size that is none": b"zz\r\n", "a space before the size": b" 5\r\nabcde\r\n",
        "a space behind the size": b"5 \r\nabcde\r\n", "a tab behind the size": b"5\t\r\nabcde\r\n",
        "two sizes": b"5 5\r\nabcde\r\n", "a size with an underscore": b"1_0\r\n",
        "a size with a comma": b"5,\r\nabcde\r\n",
        "a huge size": b"f" * 16 + b"\r\nabcde\r\n", "a size beyond 64 bits": b"1" + b"0" * 15 + b"5\r\nabcde\r\n",
        "a size that overflows to 0": b"1" + b"0" * 16 + b"\r\n\r\n", "seventeen zeros": b"0" * 17 + b"5\r\nabcde\r\n",
        "LF behind the size": b"5\nabcde\r\n", "CR behind the size": b"5\rabcde\r\n",
        "LF behind the data": b"5\r\nabcde\n",
        "CR behind the data": b"5\r\nabcde\r5\r\n", "nothing behind the data": b"5\r\nabcde0\r\n\r\n",
        "data longer than its size": b"5\r\nabcdef\r\n", "two bytes behind the data": b"5\r\nabcdeXX0\r\n\r\n",
        "NUL in the size": b"5\x00\r\nabcde\r\n", "VT behind the size": b"5\x0b\r\nabcde\r\n",
        "LF in an extension": b"5;a\nb\r\nabcde\r\n", "CR in an extension": b"5;a\rb\r\nabcde\r\n",
        "NUL in an extension": b"5;\x00\r\nabcde\r\n", "a huge extension": b"5;" + b"a" * 5000 + b"\r\nabcde\r\n",
        "LF in a quoted extension": b'5;a="\n"\r\nabcde\r\n', "LF at the very end": b"5\r\nabcde\r\n0\r\n\n",
        "LF behind the last size": b"5\r\nabcde\r\n0\n\r\n", "LF LF at the end": b"0\n\n", "CR CR at the end": b"0\r\r",
        "a full-width size": b"\xef\xbc\x95\r\nabcde\r\n", "a size in another script": b"\xd9\xa5\r\nabcde\r\n",
        "a trailer without a colon": b"0\r\nTrailer\r\n\r\n", "a folded trailer": b"0\r\nX: y\r\n z\r\n\r\n",
        "LF behind a trailer": b"0\r\nX: y\n\r\n", "a request in the trailers": b"0\r\n" + HIDDEN,
        "NUL in a trailer": b"0\r\nX: \x00\r\n\r\n", "a space in a trailer's name": b"0\r\nX : y\r\n\r\n",
        "trailers without an end": b"0\r\n" + b"X: y\r\n" * 70, "a huge trailer": b"0\r\nX: " + b"y" * 9000,
    }
    for name, body in broken.items():
        yield name, POST + TE + b"\r\n" + body + HIDDEN, BODY_REFUSED
    fine = {
        "an extension": chunk(b"abcde", b";a=b"), "a quoted extension": chunk(b"abcde", b';a="x;y\\"z"'),
        "an extension with sizes in it": chunk(b"abcde", b";0"),
        "blanks before an extension": chunk(b"abcde", b" \t;a"),
        "leading zeros": b"00000005\r\nabcde\r\n", "an upper-case size": b"A\r\n0123456789\r\n",
        "one byte each": b"".join(chunk(b"%c" % byte) for byte in b"abcde"), "a request in a chunk": chunk(HIDDEN),
        "an end in a chunk": chunk(b"0\r\n\r\n" + HIDDEN), "an extension of the last chunk": b"5\r\nabcde\r\n",
    }
    for name, body in fine.items():
        last = b"0;a=b\r\n\r\n" if name == "an extension of the last chunk" else NO_CHUNKS
        yield name, POST + TE + b"\r\n" + body + last, ONE
    trailers = [
        b"Content-Length: 99", b"Host: evil.example.com", b"Authorization: Bearer x", TE.rstrip(), b"Connection: x",
        b"X: y", b"Cookie: a=b", b"DPoP: x", b"Content-Length: 5\r\nContent-Length: 6", b": y\r\nX",
    ]
    for trailer in trailers:
        expected = BODY_REFUSED if trailer.startswith(b":") else ONE
        yield f"trailer {trailer!r}", POST + TE + b"\r\n" + chunk(b"abcde") + b"0\r\n" + trailer + b"\r\n\r\n", expected
    yield "chunks without an end", POST + TE + b"\r\n" + chunk(b"abcde") + b"ff\r\n" + HIDDEN, STARVED


def early_answers():
    """Answers that come while the body is still on its way: what is left of it must reach nobody as a request."""
    large = HIDDEN * (1_200_000 // len(HIDDEN))
    yield "a body that is too large", sized(large), EARLY
    yield "chunks that are too large", POST + TE + b"\r\n" + chunk(HIDDEN * 200) * 100 + NO_CHUNKS, EARLY
    for path in [b"private", b"files"]:
        post = b"POST @r/" + path + b"/@id HTTP/1.1\r\n" + HOST
        yield f"/{path}/ with a request as its body", post + b"Content-Length: %d\r\n\r\n" % len(HIDDEN) + HIDDEN, EARLY
        yield (
            f"/{path}/ with a body that is too large", post + b"Content-Length: %d\r\n\r\n" % len(large) + large, EARLY)
        yield f"/{path}/ with chunks", post + TE + b"\r\n" + chunk(HIDDEN) + NO_CHUNKS, EARLY
        yield (
            f"/{path}/ with chunks that break off", post + TE + b"\r\n" + chunk(HIDDEN) + b"zz\r\n" + HIDDEN,
            BODY_REFUSED)
        yield f"/{path}/ with a body that never comes", post + b"Content-Length: 50000\r\n\r\n" + HIDDEN, STARVED
