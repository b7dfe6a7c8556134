"""Clients that stall, die or lie, each at every step of a request, and what each must get from proofd even so."""

import json
import threading
import time

from hostile_behaviours import BEHAVIOURS, is_whole, mark
from wire import Cut, Malformed, Silent

HEAD_SECONDS_MAX = 30  # for any answer to begin, or the connection to be closed
BODY_SECONDS_MAX = 0.7  # a stalled upstream's answer may stall, too: then the client leaves
REACHED_SECONDS_MAX = 0.4
LATE_SECONDS = 1.5  # less than the time proofd has for a head
PIPELINED, FLOOD = 3, 40
NO_BODY = [(None, 0)]
CHUNKED = [("chunked", 300), ("chunked", 300_000), ("chunked", 1_500_000)]
WITH_BODY = [*CHUNKED, ("length", 300), ("length", 200_000), ("length", 2_000_000), ("expect", 300)]
ENDS = ["fin", "rst", "half"]


class Exchange:
    """One request, as its client and its upstream see it."""

    def __init__(self, number, method, behaviour, scene):
        self.number, self.method, self.behaviour = number, method, behaviour
        self.scene = scene  # who meets whom, for whoever reads a failure
        self.attempts = 0
        self.reached = threading.Event()  # the upstream has done the worst it will do
        self.over = threading.Event()  # the client has what it wants, or has left
        self.lies = []  # what proofd told the upstream and was not so
        self.status = None  # what the client saw
        self.was_cut = False  # it began to come, and broke off
        self.took_unasked = False  # it was an answer that nobody asked for
        self.met_unasked = False  # on a connection where such an answer was on its way
        self.head_was_sent = False  # all of it, and not with an RST behind it: there must be a record

    def next_attempt(self):
        attempts = BEHAVIOURS[self.behaviour]
        self.attempts += 1
        return attempts[min(self.attempts, len(attempts)) - 1]


class Talk:
    """What a client does with its connection."""

    def __init__(self, wire, path, dice, new_exchange):
        self.wire, self.path, self.dice = wire, path, dice
        self.new_exchange = new_exchange  # makes one for a method
        self.exchanges = []
        self.quiet_since = time.monotonic()
        self.refused_heads = 0  # answers to heads that name no number
        self.heads_that_may_be_refused = 0

    # Requests

    def request(self, bodies=None, version="HTTP/1.1", **fields):
        """Head and body of a new exchange, with one of these framings and sizes."""
        framing, size = self.dice.choice(bodies or NO_BODY * 8 + WITH_BODY)
        methods = ["GET", "GET", "HEAD", "DELETE"] if framing is None else ["POST", "POST", "PUT"]
        exchange = self.new_exchange(self.dice.choice(methods))
        self.exchanges.append(exchange)
        body = mark(exchange.number, size) if framing else b""
        if framing == "chunked":
            fields["Transfer_Encoding"] = "chunked"
            step = max(1, len(body) // 5)
            pieces = [body[start : start + step] for start in range(0, len(body), step)]
            body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        elif framing:
            fields["Content_Length"] = len(body)
        if framing == "expect":
            fields["Expect"] = "100-continue"
        target = f"{self.path}?number={exchange.number}"
        return exchange, self.wire.head(exchange.method, target, version, **fields), body

    def send(self, *pieces, pause=0.0):
        """- Returns: whether all could be sent; an early answer may close the connection first."""
        try:
            for piece in pieces:
                self.wire.send(piece)
                time.sleep(pause)
        except (ConnectionError, TimeoutError):
            return False
        return True

    def send_head(self, exchange, head):
        sent = self.send(head)
        # Who connects and is late, as we may be on a busy machine, finds the connection closed.
        exchange.head_was_sent = sent and time.monotonic() - self.quiet_since < LATE_SECONDS

    def send_request(self, **options):
        exchange, head, body = self.request(**options)
        self.send_head(exchange, head)
        self.send(body)
        return exchange

    # Answers

    def take(self, exchange, **options):
        """The answer to `exchange`: whole, cut, or none at all. - Returns: whether another may follow."""
        self.wire.socket.settimeout(HEAD_SECONDS_MAX)
        try:
            answer = self.wire.answer(exchange.method, body_seconds=BODY_SECONDS_MAX, **options)
        except Cut:
            exchange.was_cut = True
            return False
        except Silent:
            return False
        if answer is None:
            return False
        judge(exchange, answer)
        exchange.status = answer.status
        self.quiet_since = time.monotonic()
        return answer.keeps_alive

    def take_refusal(self):
        """The answer to a head that is none, if there is one."""
        self.wire.socket.settimeout(HEAD_SECONDS_MAX)
        try:
            answer = self.wire.answer()
        except Cut:
            return
        if answer:
            judge(None, answer)
            self.refused_heads += 1

    def wait_until_reached(self, exchange):
        exchange.reached.wait(REACHED_SECONDS_MAX)

    def leave(self, how):
        if how == "rst":
            for exchange in self.exchanges:
                exchange.head_was_sent = False  # an RST may overtake it
            self.wire.reset()
        elif how == "half":
            try:
                self.wire.half_close()
            except OSError:
                return  # proofd has closed already
            for exchange in self.exchanges:
                if not self.take(exchange):
                    return


def judge(exchange, answer):
    """An answer that was whole by its framing must be whole, and be proofd's own or this exchange's."""
    if answer.proofd_error:
        if answer.body or exchange is None or exchange.method != "HEAD":
            problem = json.loads(answer.body)
            if (problem["code"], problem["status"]) != (answer.proofd_error, answer.status):
                raise Malformed(f"{answer}")
        if answer.fields.get("content-type") != "application/problem+json":
            raise Malformed(f"{answer}")
        return
    if exchange is None:
        raise Malformed(f"a refused head was answered: {answer}")
    number = answer.fields.get("x-number")
    if number == "0":
        if (answer.status, answer.fields.get("content-length"), answer.body) != (200, "0", b""):
            raise Malformed(f"what nobody asked for was another answer: {answer}")
        exchange.took_unasked = True  # the upstream knows whether it may have been
        return
    if number != str(exchange.number):
        raise Malformed(f"{exchange.number} has the answer to {number}")
    if exchange.method == "HEAD" or answer.status == 204:
        return
    body = answer.body
    if answer.fields.get("content-type") == "application/json":
        body = json.loads(body)["mark"].encode()
    if not is_whole(exchange.number, body):
        raise Malformed(f"looks whole and is not: {len(answer.body)} bytes, {answer.fields}")


# What clients do

def stays(talk):
    for number in range(talk.dice.randrange(1, 4)):
        exchange = talk.send_request()
        if not talk.take(exchange):
            if number > 0 and not exchange.was_cut:
                exchange.head_was_sent = False  # it may have met the end of a connection that was idle for too long
            return


def stays_for_one(talk):
    talk.take(talk.send_request(Connection="close"))


def speaks_1_0(talk):
    exchange, head, _ = talk.request(NO_BODY, version="HTTP/1.0")
    talk.send_head(exchange, head)
    talk.take(exchange, may_end_with_connection=True)


def leaves_in_head(how):
    def client(talk):
        _, head, _ = talk.request(NO_BODY)
        talk.send(head[: talk.dice.randrange(1, len(head) - 1)])
        talk.heads_that_may_be_refused += 1  # also when we are too late to leave
        talk.exchanges.clear()  # whatever the answer, it is not to a request
        talk.leave(how)
        if how in ("half", "stall"):
            talk.take_refusal()
    return client


def leaves_in_body(how, waits=False):
    """waits: until the upstream has done its worst, which it may do before it has the body."""
    def client(talk):
        exchange, head, body = talk.request(WITH_BODY)
        talk.send_head(exchange, head)
        talk.send(body[: talk.dice.randrange(len(body) - 6)])
        if waits:
            talk.wait_until_reached(exchange)
        talk.take(exchange) if how == "stall" else talk.leave(how)
    return client


def lies_in_body(talk):
    exchange, head, _ = talk.request(CHUNKED)
    lie = talk.dice.choice([
        b"zz\r\n", b"-1\r\n", b"f" * 40 + b"\r\n", b"3\r\nabcdef\r\n0\r\n\r\n", b"\r\n", b"5\nabcde\n0\n\n",
    ])
    talk.send_head(exchange, head)
    talk.send(b"a\r\n0123456789\r\n" * talk.dice.choice([0, 1, 20_000]) + lie)
    talk.take(exchange)


def leaves_when_sent(how):
    def client(talk):
        talk.send_request()
        talk.leave(how)
    return client


def leaves_when_reached(how):
    def client(talk):
        exchange = talk.send_request()
        talk.wait_until_reached(exchange)
        talk.leave(how)
    return client


def leaves_in_answer(how):
    def client(talk):
        talk.send_request()
        talk.wire.socket.settimeout(HEAD_SECONDS_MAX)
        try:
            talk.wire.read(talk.dice.randrange(1, 300))
        except Cut:
            return
        except TimeoutError:
            pass
        talk.leave("rst" if how == "rst" else "fin")
    return client


def does_not_read(talk):
    exchange = talk.send_request()
    time.sleep(1)
    talk.take(exchange)
    exchange.was_cut = False  # for proofd the answer may have been complete: its end was on its way to us


def reads_slowly(talk):
    talk.send_request()
    talk.wire.socket.settimeout(BODY_SECONDS_MAX)
    try:
        for _ in range(100):
            talk.wire.read(200)
            time.sleep(0.005)
    except (Cut, TimeoutError):
        pass


def sends_head_slowly(talk):
    _, head, _ = talk.request(NO_BODY)
    talk.heads_that_may_be_refused += 1
    talk.send(*(head[at : at + 1] for at in range(len(head))), pause=0.05)
    talk.take_refusal()


def sends_body_slowly(talk):
    exchange, head, body = talk.request(WITH_BODY)
    step = max(1, len(body) // 10)
    talk.send_head(exchange, head)
    talk.send(*(body[at : at + step] for at in range(0, len(body), step)), pause=0.03)
    talk.take(exchange)


def sends_a_large_head(talk):
    _, head, _ = talk.request(NO_BODY, X="x" * 40_000)
    talk.heads_that_may_be_refused += 1
    talk.send(head)
    talk.take_refusal()


def pipelines(leaves):
    def client(talk):
        exchanges, data = [], b""
        for _ in range(PIPELINED):
            exchange, head, body = talk.request(NO_BODY * 4 + [("length", 300), ("chunked", 300)])
            exchanges.append(exchange)
            data += head + body
        talk.send_head(exchanges[0], data)
        if leaves:
            talk.wait_until_reached(exchanges[0])
            return talk.leave(leaves)
        for exchange in exchanges:
            if not talk.take(exchange):
                return
    return client


def pipelines_garbage(talk):
    exchange, head, body = talk.request(NO_BODY)
    talk.send_head(exchange, head + body + b"garbage\r\n\r\n")
    talk.heads_that_may_be_refused += 1
    if talk.take(exchange):
        talk.take_refusal()


def floods(talk):
    """Many requests, and not one answer read."""
    for number in range(FLOOD):
        exchange, head, _ = talk.request(NO_BODY)
        talk.send(head) if number > 0 else talk.send_head(exchange, head)
    talk.wait_until_reached(talk.exchanges[0])


CLIENTS = {
    "stays": stays, "stays for one": stays_for_one, "speaks HTTP/1.0": speaks_1_0,
    **{f"leaves in the head: {how}": leaves_in_head(how) for how in [*ENDS, "stall"]},
    **{f"leaves in the body: {how}": leaves_in_body(how) for how in [*ENDS, "stall"]},
    **{f"leaves in the body, late: {how}": leaves_in_body(how, waits=True) for how in ENDS},
    "lies in the body": lies_in_body,
    **{f"leaves when all is sent: {how}": leaves_when_sent(how) for how in ENDS},
    **{f"leaves when the upstream is stuck: {how}": leaves_when_reached(how) for how in ENDS},
    **{f"leaves in the answer: {how}": leaves_in_answer(how) for how in ("fin", "rst")},
    "does not read": does_not_read, "reads slowly": reads_slowly,
    "sends the head slowly": sends_head_slowly, "sends the body slowly": sends_body_slowly,
    "sends a large head": sends_a_large_head,
    "pipelines": pipelines(None), **{f"pipelines and leaves: {how}": pipelines(how) for how in ENDS},
    "pipelines garbage": pipelines_garbage, "floods": floods,
}
TAKES_LITTLE = {"does not read", "reads slowly", "floods"}  # not even into the kernel's buffer
