"""Where smuggling is tried: proofd between clients on raw sockets and nginx, Apache and a recording origin, and what
must hold afterwards, whatever was sent: each server saw exactly the requests proofd logged for it.
"""

import asyncio
import collections
import itertools
import re
import time
import urllib.parse

from harness import Proofd, Stage
from smuggling.recording_origin import RecordingOrigin
from smuggling.vocabulary import AUTHORITY, NAME, ROUTE
from smuggling.web_servers import Apache, Nginx
from smuggling.wire import Broken, read_answers

ANSWER_SECONDS_MAX = 20
TOKEN = "origin-credential-5f1c"


class Exchange:
    """What a client sent on one connection and what came of it."""

    def __init__(self, name, pieces):
        self.name, self.pieces = name, pieces
        self.received, self.closed, self.reset = b"", False, False

    @property
    def sent(self):
        return b"".join(self.pieces)

    async def run(self, port, silence_seconds=ANSWER_SECONDS_MAX):
        """Sends and receives until proofd closes, or says nothing for so long."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        sending = asyncio.ensure_future(self.send(writer))
        try:
            while piece := await asyncio.wait_for(reader.read(1 << 16), silence_seconds):
                self.received += piece
            self.closed = True
        except TimeoutError:
            pass
        except ConnectionError:
            self.closed = self.reset = True
        finally:
            sending.cancel()
            writer.close()

    async def send(self, writer):
        try:
            for piece in self.pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
        except ConnectionError:
            pass  # an answer may have come before

    def answers(self):
        return read_answers(self.received, may_be_head=b"HEAD" in self.sent.upper())

    def __str__(self):
        sent, received = self.sent[:600], self.received[:600]
        return f"{self.name}\n  sent {sent!r}\n  received {received!r} closed={self.closed}"


def cut(data, *places):
    """`data` in pieces that begin at the places."""
    bounds = [0, *sorted({place for place in places if 0 < place < len(data)}), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(bounds)]


class Battery(Stage):
    """proofd with the routes ne, np (nginx), ae, ap (Apache) and oo (the origin); one loop and so one pool."""

    at_once = 48

    def setUp(self):
        super().setUp()
        self.origin = RecordingOrigin(strict_fields=True)
        self.behind = {"nginx": RecordingOrigin(), "apache": RecordingOrigin()}
        self.servers = {
            "nginx": Nginx(self, self.behind["nginx"].port), "apache": Apache(self, self.behind["apache"].port),
        }
        self.logs = {
            server[0] + port[0]: (self.servers[server], port, self.servers[server].ports[port])
            for server in self.servers for port in ("plain", "echo")
        }
        ports = {route: port for route, (_, _, port) in self.logs.items()}
        ports["oo"] = self.origin.port
        routes = {name: {"path": f"/{name}", "upstream": f"http://127.0.0.1:{port}/"} for name, port in ports.items()}
        routes["oo"]["credential"] = "own"
        self.proofd = Proofd(
            self, {"own": {"provider": "static", "token": {"env": "ORIGIN_TOKEN"}}}, routes, {"ORIGIN_TOKEN": TOKEN},
            threads=1,
        )
        self.host = f"127.0.0.1:{self.proofd.port}".encode()
        self.names = (f"k{number:06d}k" for number in itertools.count())
        self.problems, self.whole, self.cut_off = {}, 0, 0
        self.answered = collections.Counter()

    def problem(self, text, exchange=None):
        """Notes what is wrong, once for each case."""
        case = exchange.name.partition(" (")[0] if exchange else text
        self.problems.setdefault(case, f"{text}\n  {exchange}" if exchange else text)

    def fill(self, raw, name, route):
        """A spelt request with the real names."""
        filled = raw.replace(AUTHORITY, self.host).replace(ROUTE, f"/{route}".encode()).replace(NAME, name.encode())
        assert len(filled) == len(raw), "names must be as long as those they stand for"
        return filled

    async def run_all(self, jobs, alone=()):
        """Runs the coroutines, so many at a time, and then those that must be alone, while the origins serve."""
        servers = [await origin.serve() for origin in (self.origin, *self.behind.values())]
        free = asyncio.Semaphore(self.at_once)

        async def one(job):
            async with free:
                await job

        await asyncio.gather(*(one(job) for job in jobs))
        for job in alone:
            await job
        await asyncio.get_running_loop().run_in_executor(None, self.settle)
        for server in servers:
            server.close()

    def settle(self):
        """Waits until all that was sent is logged everywhere."""
        deadline = time.monotonic() + ANSWER_SECONDS_MAX
        known = None
        while time.monotonic() < deadline:
            now = len(self.proofd.records()), [len(list(server.lines(port))) for server, port, _ in self.logs.values()]
            if now == known and not self.differences():
                return
            known = now
            time.sleep(0.3)

    # What must hold whatever was sent

    def read(self, exchange, scripted=False):
        """The answers a client got, each to something it sent itself, none behind one that ends the connection.

        scripted: the first comes from a script, and may say anything.
        """
        try:
            answers = exchange.answers()
        except Broken as broken:
            self.problem(f"unreadable for the client: {broken}", exchange)
            return []
        for index, answer in enumerate(answers):
            self.answered["own" if answer.own else "upstream"] += 1
            # Decoded, because Apache spells a path anew when it merges slashes in it: %0d becomes %0D.
            target = urllib.parse.unquote_to_bytes(answer.seen.partition(" ")[2].removeprefix("/"))
            if not (scripted and index == 0) and target not in urllib.parse.unquote_to_bytes(exchange.sent):
                self.problem(f"an answer to somebody else's {answer.seen}", exchange)
        for answer in answers[:-1]:
            refused = answer.own in ("bad_request", "head_too_large")
            if not answer.whole or refused or answer.value("connection") == "close":
                self.problem(f"{answer} should have been the last", exchange)
        self.whole += sum(answer.whole for answer in answers)
        self.cut_off += any(not answer.whole for answer in answers)
        return answers

    def differences(self):
        """Where a server's log and proofd's disagree."""
        records = self.proofd.records()
        found = []
        for route, (server, port_name, port) in self.logs.items():
            lines = list(server.lines(port_name))
            hosts = ("-", f"127.0.0.1:{port}")  # "-": the request line itself was not to the server's liking
            found += [f"{route}: Host {host} of {target}" for _, target, host, _ in lines if host not in hosts]
            seen = [(method, target) for method, target, _, _ in lines]
            found += compare(f"{route}: ", seen, [record for record in records if record.get("route") == route])
        seen = [(request.method, request.target) for request in self.origin.requests]
        found += compare("oo: ", seen, [record for record in records if record.get("route") == "oo"])
        return found

    def check(self):
        """All that can be said when the dust has settled."""
        for text in sum((origin.violations for origin in (self.origin, *self.behind.values())), self.differences()):
            self.problem(text)
        records = self.proofd.records()
        for request in self.origin.requests:
            if request.values("authorization") != [f"Bearer {TOKEN}"]:
                self.problem(f"{request.target} came with Authorization {request.values('authorization')}")
        self.check_bodies(records)
        heard = sum(1 for record in records if record["status"] != 499)
        if self.whole > heard:
            self.problem(f"{self.whole} whole answers, {heard} records of answers")
        self.no_problems()

    def no_problems(self):
        if self.problems:
            self.fail("\n".join([f"{len(self.problems)} problems", *itertools.islice(self.problems.values(), 12)]))

    def check_bodies(self, records):
        """Every body that arrived whole, also behind nginx and Apache, is as long as proofd logged."""
        lengths = {}
        origins = {"oo": "oo", "ne": "nginx", "ae": "apache"}
        for record in records:
            if record["source"] == "upstream" and record.get("route") in origins:
                key = origins[record["route"]], record["method"], upstream_target(record)
                lengths.setdefault(key, []).append(record["request_bytes"])
        for name, origin in {"oo": self.origin, **self.behind}.items():
            for request in origin.requests:
                logged = lengths.get((name, request.method, request.target), [])
                if len(logged) == 1 and logged[0] != len(request.body):
                    self.problem(f"{name}: {request.target} with {len(request.body)} bytes, logged {logged[0]}")


def upstream_target(record):
    """The target as it was forwarded, from the one in the log."""
    target = re.sub(r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/?]*", "", record["target"])
    rest = target.removeprefix(f"/{record['route']}")
    return rest if rest.startswith("/") else "/" + rest


def compare(prefix, seen, records):
    """Every answer from a server is to a request it logged; every request it logged was sent, and so often at most."""
    answered, allowed, seen = collections.Counter(), collections.Counter(), collections.Counter(seen)
    for record in sorted(records, key=lambda record: "[redacted:" in record.get("target", "")):
        if record["attempts"]:
            line = record["method"], upstream_target(record)
            if "[redacted:" in line[1]:
                line = unredacted(line, seen - allowed)
            allowed[line] += record["attempts"]
            answered[line] += record["source"] == "upstream"
    return [
        *(f"{prefix}{line} was sent {count} times less than it arrived" for line, count in (seen - allowed).items()),
        *(f"{prefix}{line} was answered {count} times too often" for line, count in (answered - seen).items()),
    ]


def unredacted(line, candidates):
    """The one of the lines a server saw that the log shows a part of."""
    pattern = re.compile(".+".join(re.escape(part) for part in re.split(r"\[redacted:[0-9a-f]+\]", line[1])))
    return next((seen for seen in candidates if seen[0] == line[0] and pattern.fullmatch(seen[1])), line)
