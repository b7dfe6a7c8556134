"""Upstreams that stall, die or lie, each at every step of an answer.

A behaviour is a list of attempts, and an attempt a tuple of steps: what the upstream does when the request reaches it
for the first time, the second, and so on; the last attempt is repeated. Bodies say their own length and end, so that a
client knows a cut one whatever its framing says.
"""

import json
import ssl
import threading
import time

from hostile_upstream import STALL_SECONDS_MAX

# Answers to nobody. One that comes by itself may be taken for the answer to a request that is on its way, for nobody can
# tell; one that comes with another answer may not.
UNASKED = b"HTTP/1.1 200 OK\r\nX-Number: 0\r\nContent-Length: 0\r\n\r\n"
ADDED = UNASKED.replace(b"X-Number: 0", b"X-Number: added")
ON_ITS_WAY_SECONDS_MAX = 0.1  # proofd looks for one, then writes


def mark(number, count):
    """A body of about `count` bytes that belongs to one exchange and shows when it is cut."""
    return b"<%d:%d:%b>" % (number, count, b"x" * count)


def is_whole(number, body):
    prefix = b"<%d:" % number
    count, colon, rest = body.removeprefix(prefix).partition(b":")
    return (
        body.startswith(prefix) and colon == b":" and count.isdigit() and len(rest) == int(count) + 1
        and rest.endswith(b">")
    )


def good(exchange, count=100, framing="length", status=200, fields=()):
    """The parts of an answer that is as it should be: head, body, end."""
    body = mark(exchange.number, count)
    lines = [f"HTTP/1.1 {status} Said", f"X-Number: {exchange.number}", *fields]
    if framing == "length":
        return _head(*lines, f"Content-Length: {len(body)}"), body, b""
    if framing == "chunked":
        half = len(body) // 2
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (body[:half], body[half:]))
        return _head(*lines, "Transfer-Encoding: chunked"), chunks, b"0\r\n\r\n"
    return _head(*lines, "Connection: close"), body, b""


def challenge(exchange, count=100, error="use_dpop_nonce", status=401):
    """A refusal of the proof or the token."""
    nonce = f"nonce-{exchange.number}-{exchange.attempts}"
    fields = [f"WWW-Authenticate: DPoP error=\"{error}\"", f"DPoP-Nonce: {nonce}"]
    return good(exchange, count, status=status, fields=fields)


def quiet_challenge(exchange, count=0):
    """A demand for a nonce that only the body speaks of: proofd looks into it before it decides."""
    body = json.dumps({"error": "use_dpop_nonce", "mark": mark(exchange.number, count).decode()}).encode()
    head = _head(
        "HTTP/1.1 401 Said", f"X-Number: {exchange.number}", f"DPoP-Nonce: quiet-{exchange.number}",
        "WWW-Authenticate: DPoP", "Content-Type: application/json", f"Content-Length: {len(body)}",
    )
    return head, body, b""


def doubled(exchange):
    """A good answer with one behind it that nobody asked for."""
    head, body, _ = good(exchange)
    return head, body, ADDED


def _head(*lines):
    return "\r\n".join([*lines, "", ""]).encode()


# Steps

def read(peer, exchange):
    body = peer.body()
    if body and not is_whole(exchange.number, body):
        exchange.lies.append(f"a request body of {len(body)} bytes was passed on as if it were whole")


def say(parts, **options):
    """All of an answer, with one write."""
    def step(peer, exchange):
        if exchange.method == "HEAD":
            return peer.send(parts(exchange, **options)[0])
        peer.send(b"".join(parts(exchange, **options)))
    return step


def say_until(where, parts=good, **options):
    """The beginning of an answer: up to the middle of its head or its body, or to what ends either."""
    def step(peer, exchange):
        head, body, end = parts(exchange, **options)
        in_body = head + body[: len(body) // 2]
        peer.send({"in head": head[:20], "after head": head, "in body": in_body, "before end": head + body}[where])
    return step


def raw(data):
    def step(peer, exchange):
        peer.send(data.replace(b"{number}", b"%d" % exchange.number))
    return step


def again(data, pause=0.0, bytes_max=4 << 20):
    """The same over and over, until proofd has enough."""
    def step(peer, _):
        piece = data * max(1, 4096 // len(data)) if not pause else data
        until = time.monotonic() + STALL_SECONDS_MAX
        for _ in range(bytes_max // len(piece)):
            if time.monotonic() > until:
                return
            peer.send(piece)
            time.sleep(pause)
    return step


def slowly(parts, size, pause, **options):
    def step(peer, exchange):
        data = b"".join(parts(exchange, **options))
        for start in range(0, len(data), size):
            peer.send(data[start : start + size])
            time.sleep(pause)
    return step


def stall(peer, exchange):
    """Says nothing more, and reads what comes."""
    exchange.reached.set()
    peer.wait()


def deaf(peer, exchange):
    """Says nothing more, and reads nothing either."""
    exchange.reached.set()
    exchange.over.wait(STALL_SECONDS_MAX)
    peer.close()


def die(how):
    def step(peer, exchange):
        exchange.reached.set()
        peer.close(how)
    return step


def end_input(peer, exchange):
    peer.end_input()


def cut_input(peer, exchange):
    """An answer that ends with its connection is cut: without TLS only a reset can show it."""
    peer.close("fin" if isinstance(peer.socket, ssl.SSLSocket) else "rst")


def pause(peer, exchange):
    time.sleep(0.05)


def unasked(peer, _):
    """Answers nobody, and notes which request was on its way then; its own answer would be for nobody again."""
    peer.send(UNASKED)
    if head := peer.head(ON_ITS_WAY_SECONDS_MAX):
        peer.exchange_of(head[0]).met_unasked = True
        peer.close()


def _lie(*lines, body=b"<{number}:4:xxxx>"):
    return raw("\r\n".join(["HTTP/1.1 200 OK", "X-Number: {number}", *lines, "", ""]).encode() + body)


ENDS = {"fin": die("fin"), "rst": die("rst"), "half": die("half"), "stall": stall}
WHOLE = say(good)
REFUSED, NO_TOKEN = (read, say(challenge)), (read, say(challenge, error="invalid_token"))
ENDLESS_HEAD = (raw(b"HTTP/1.1 200 OK\r\n"), again(b"X-More: and more\r\n"), stall)

BEHAVIOURS = {
    "whole": [(read, WHOLE)],
    "whole, chunked": [(read, say(good, framing="chunked"))],
    "whole, ends with the connection": [(read, say(good, framing="close"), end_input)],
    "whole, large": [(read, say(good, count=3_000_000))],
    "whole, large, chunked": [(read, say(good, count=1_000_000, framing="chunked"))],
    "whole, slowly": [(read, slowly(good, 16, 0.005))],
    "whole, no body": [(read, raw(b"HTTP/1.1 204 No\r\nX-Number: {number}\r\n\r\n"))],
    "whole, after 100 and 103": [(read, raw(b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\nLink: </x>\r\n\r\n"), WHOLE)],
    # Dies or stalls before and after the request's body is read
    **{f"no answer, body unread: {how}": [(end,)] for how, end in ENDS.items()},
    **{f"no answer: {how}": [(read, end)] for how, end in ENDS.items()},
    "no answer, deaf": [(deaf,)],
    # … at each place of an answer
    **{
        f"{framing}, {where}: {how}": [(read, say_until(where, framing=framing), end)]
        for framing in ("length", "chunked") for where in ("in head", "after head", "in body", "before end")
        for how, end in ENDS.items() if (framing, where) != ("length", "before end")
    },
    "ends with the connection, cut": [(read, say_until("in body", framing="close"), cut_input)],
    "head, slowly": [(read, slowly(good, 1, 0.04))],
    # Answers before the request is read
    "early": [(WHOLE, read)],
    **{f"early: {how}": [(WHOLE, end)] for how, end in (ENDS | {"deaf": deaf}).items()},
    "early, cut: rst": [(say_until("in body"), die("rst"))],
    "early refusal: fin": [(say(challenge), die("fin")), (read, WHOLE)],
    "early refusal: rst": [(say(challenge), pause, die("rst")), (read, WHOLE)],
    # On the idle connection
    **{f"whole, then idle: {how}": [(read, WHOLE, end)] for how, end in ENDS.items()},
    "whole, then one unasked": [(read, WHOLE, pause, unasked)],
    "whole, then one unasked: fin": [(read, WHOLE, pause, unasked, die("fin"))],
    "whole, with one unasked": [(read, say(doubled), die("fin"))],
    "whole, then garbage": [(read, WHOLE, pause, raw(b"garbage"))],
    # Lies
    "two lengths": [(read, _lie("Content-Length: 4", "Content-Length: 5"))],
    "a length that is none": [(read, _lie("Content-Length: 4x"))],
    "length and chunks": [(read, _lie("Content-Length: 4", "Transfer-Encoding: chunked", body=b"0\r\n\r\n"))],
    "unknown coding": [(read, _lie("Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"))],
    "a chunk size that is none": [(read, _lie("Transfer-Encoding: chunked", body=b"zz\r\nabc\r\n"))],
    "a chunk too long": [(read, _lie("Transfer-Encoding: chunked", body=b"3\r\nabcdef\r\n0\r\n\r\n"))],
    "a huge chunk": [(read, _lie("Transfer-Encoding: chunked", body=b"ffffffffffffffffff\r\nabc"))],
    "a chunk line without end": [(read, _lie("Transfer-Encoding: chunked", body=b"1;"), again(b"x=y;"), stall)],
    "garbage": [(read, raw(b"\x00\xff garbage\r\n\r\n"))],
    "a mail server": [(read, raw(b"220 mail.example.com ESMTP\r\n"), stall)],
    "HTTP/0.9": [(read, raw(b"<html>no head</html>"), die("fin"))],
    "HTTP/2": [(read, raw(b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + bytes(18)), stall)],
    "bare line feeds": [(read, raw(b"HTTP/1.1 200 OK\nContent-Length: 0\n\n"))],
    "a space before the colon": [(read, _lie("Content-Length : 4"))],
    "a folded line": [(read, _lie("X: a\r\n b", "Content-Length: 0"))],
    "NUL in a field": [(read, _lie("X: a\0b", "Content-Length: 0"))],
    "204 with a body": [(read, raw(b"HTTP/1.1 204 No\r\nX-Number: {number}\r\n\r\nbody"))],
    "101": [(read, raw(b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), stall)],
    "1xx for ever": [(read, again(b"HTTP/1.1 103 Early\r\n\r\n"), stall)],
    "1xx slowly": [(read, again(b"HTTP/1.1 102 Wait\r\n\r\n", pause=0.1), stall)],
    **{f"103, then {how}": [(read, raw(b"HTTP/1.1 103 E\r\n\r\n"), end)] for how, end in ENDS.items()},
    "a head without end": [(read, *ENDLESS_HEAD)],
    "a head without end, body unread": [ENDLESS_HEAD],
    "a body without end": [(read, _lie("Content-Length: 99999999", body=b""), again(b"x"), die("rst"))],
    # Refusals
    "nonce": [REFUSED, (read, WHOLE)],
    "nonce, status 400": [(read, say(challenge, status=400)), (read, WHOLE)],
    "nonce, large": [(read, say(challenge, count=300_000)), (read, WHOLE)],
    "nonce for ever": [REFUSED],
    **{f"nonce, then {how}": [REFUSED, (read, end)] for how, end in ENDS.items()},
    **{f"nonce, then {how} in the answer": [REFUSED, (read, say_until("in body"), end)] for how, end in ENDS.items()},
    **{
        f"nonce, {how} in the refusal": [(read, say_until("in body", challenge), end), (read, WHOLE)]
        for how, end in ENDS.items()
    },
    "nonce, the refusal goes on": [(read, say(challenge, count=100_000), again(b"x"), stall), (read, WHOLE)],
    "quiet nonce": [(read, say(quiet_challenge)), (read, WHOLE)],
    "quiet nonce, large": [(read, say(quiet_challenge, count=100_000)), (read, WHOLE)],
    **{
        f"quiet nonce, {how} in it": [(read, say_until("in body", quiet_challenge), end), (read, WHOLE)]
        for how, end in ENDS.items()
    },
    **{
        f"quiet nonce, {how} before it": [(read, say_until("after head", quiet_challenge), end), (read, WHOLE)]
        for how, end in ENDS.items()
    },
    "invalid token": [NO_TOKEN, (read, WHOLE)],
    **{f"invalid token, then {how}": [NO_TOKEN, (read, end)] for how, end in ENDS.items()},
}


# The authorization server's token endpoint

class TokenCall:
    """One request for a token. An issuer with dice sometimes gives one that soon ends; one without gives good ones."""

    number, method, attempts = 0, "POST", 0

    def __init__(self, dice):
        self.reached, self.over = threading.Event(), threading.Event()
        self.steps = (take, say(token("DPoP", 3600)))
        if dice:
            self.steps = take, dice.choice(TOKEN_ANSWERS), dice.choice(list(ENDS.values()))

    def next_attempt(self):
        return self.steps


def take(peer, _):
    peer.body()


def token(token_type, seconds):
    """An answer with a token."""
    def parts(_):
        answer = {"access_token": f"a-token-for-hostile-peers-{time.monotonic_ns()}", "token_type": token_type, "expires_in": seconds}
        body = json.dumps(answer).encode()
        head = _head("HTTP/1.1 200 OK", "Content-Type: application/json", f"Content-Length: {len(body)}")
        return head, body, b""
    return parts


TOKEN_ANSWERS = [
    *[say(token("DPoP", 2))] * 20, say(token("DPoP", 0)),
    say_until("in body", token("DPoP", 2)), say_until("in head", token("DPoP", 2)),
    slowly(token("DPoP", 2), 10, 0.02), raw(b"garbage\r\n\r\n"), raw(b""),
    raw(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"), raw(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull"),
    raw(b"HTTP/1.1 429 Slow\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"), raw(b"HTTP/1.1 103 E\r\n\r\n"),
]


# Connections that never get so far

def _greeting(act):
    def greet(peer):
        peer.socket.settimeout(STALL_SECONDS_MAX)
        act(peer)
        if peer.open:
            peer.wait()
    return greet


def _after_hello(act):
    def greet(peer):
        peer.socket.recv(1 << 16)
        act(peer)
    return _greeting(greet)


GREETINGS = {
    "fin": _greeting(lambda peer: peer.close("fin")),
    "rst": _greeting(lambda peer: peer.close("rst")),
    "half": _greeting(lambda peer: peer.close("half")),
    "garbage": _greeting(lambda peer: peer.send(b"\x15\x03garbage\r\n\r\n")),
    "answer": _greeting(lambda peer: unasked(peer, None)),
    "stall": _greeting(lambda peer: None),
    "fin after hello": _after_hello(lambda peer: peer.close("fin")),
    "rst after hello": _after_hello(lambda peer: peer.close("rst")),
    "garbage after hello": _after_hello(lambda peer: peer.send(b"\x16\x03\x03\x00\x10" + bytes(16))),
    "alert after hello": _after_hello(lambda peer: peer.send(b"\x15\x03\x03\x00\x02\x02\x28")),
    "stall after hello": _after_hello(lambda peer: None),
}
