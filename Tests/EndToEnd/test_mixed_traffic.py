#!/usr/bin/env python3
"""Everything at once, over several loops: each request gets its own answer and one line in the log.

MIXED_SECONDS says for how long (default 5), MIXED_SEED which dice. Run it with a PROOFD built with a sanitizer, too:
it must end with exit code 0 and without a report.
"""

import collections
import hashlib
import itertools
import json
import os
import random
import signal
import threading
import time
import unittest

from certificates import Authority
from harness import PROOFD, Origin, Proofd, Simulator, Stage, result, wait_until
from origin import pattern
from wire import Cut, Wire

SECONDS = float(os.environ.get("MIXED_SECONDS", "5"))
SEED = int(os.environ.get("MIXED_SEED") or random.randrange(1 << 32))
CLIENTS, LOOPS = 12, 4
REFUSED_SHARE_MAX = 0.02
BYTES = bytes(range(251)) * 12_000  # 3 MB: more than replay_limit
FAULTS = [
    {"fault": "drop", "at": "head", "ending": "reset"}, {"fault": "drop", "at": "after"},
    {"fault": "truncate", "part": "head", "bytes": 20},
    {"fault": "truncate", "part": "body", "bytes": 5, "ending": "reset"},
    {"fault": "truncate", "part": "declare-more"}, {"fault": "pace", "bytes": 20, "ms": 1},
    {"fault": "interim", "fields": []},
    {"fault": "encode", "encoding": "chunked"}, {"fault": "encode", "encoding": "close"},
    {"fault": "close-after-answer", "ending": "reset"}, {"fault": "raw", "base64": "R0FSQkFHRQ0KDQo="},
]


class Traffic:
    """What the clients do, and what they must find in the log afterwards."""

    def __init__(self, proofd, simulator):
        self.proofd, self.simulator = proofd, simulator
        self.numbers = itertools.count(1)
        self.answered = {}  # number of a request: the status its client saw; who leaves early sees none
        self.done = collections.Counter()
        self.failures = []
        self.until = time.monotonic() + SECONDS

    def run(self):
        clients = [(self.client, random.Random(SEED + number)) for number in range(CLIENTS)]
        threads = [threading.Thread(target=self.watched, args=call) for call in [(self.disturb,), *clients]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def watched(self, function, *arguments):
        """Whatever goes wrong in a thread, the test must say it, and the others need not go on."""
        try:
            function(*arguments)
        except Exception as error:
            self.failures.append(repr(error))

    @property
    def goes_on(self):
        return time.monotonic() < self.until and not self.failures

    def client(self, dice):
        actions = [
            (self.downloads, 6), (self.uploads, 6), (self.pipelined, 2), (self.empty_answers, 2), (self.faulty, 4),
            (self.refused, 2), (self.leaves_in_head, 1), (self.leaves_in_upload, 2), (self.leaves_in_download, 2),
            (self.leaves_before_answer, 1), (self.sends_early, 2),
        ]
        functions, weights = zip(*actions)
        while self.goes_on:
            action = dice.choices(functions, weights)[0]
            with Wire(self.proofd.port) as wire:
                action(wire, dice)
            self.done[action.__name__] += 1

    def disturb(self):
        """The control plane, and what changes behind proofd, all the while."""
        for round in itertools.count():
            time.sleep(0.5)
            if not self.goes_on:
                return
            self.simulator.ask("POST", "/nonces/expire?role=api")
            self.proofd.child.process.send_signal(signal.SIGHUP)
            if (finished := self.proofd.verb("status", "--json")).returncode != 0:
                raise AssertionError(f"status: {finished.stdout + finished.stderr}")
            if round == 2:
                self.simulator.ask("POST", "/tokens/revoke")

    # What clients do

    def target(self, path):
        number = next(self.numbers)
        return number, f"{path}{'&' if '?' in path else '?'}number={number}"

    def exchange(self, wire, method, path, body=b"", allowed=(200,), **fields):
        number, target = self.target(path)
        if body:
            fields.setdefault("Content_Length", len(body))
        wire.send(wire.head(method, target, **fields) + body)
        return self.finish(wire, number, method, path, allowed)

    def finish(self, wire, number, method, path, allowed):
        answer = wire.answer(method)
        if answer is None or answer.status not in allowed:
            raise AssertionError(f"{method} {path}: {answer}")
        self.answered[number] = answer.status
        return answer

    def downloads(self, wire, dice):
        for _ in range(dice.randrange(1, 8)):
            count = dice.choice([0, 1, 1000, 65_536, 500_000])
            origin = dice.choice(["/open", "/secure", "/signed"])
            path = dice.choice([f"{origin}/bytes/{count}", f"/api/bytes/{count}?encoding=chunked"])
            answer = self.exchange(wire, "GET", path, allowed=(200, 401))
            expected = b"".join(pattern(count)) if not path.startswith("/api") else BYTES[:count]
            if answer.status == 200 and answer.body != expected:
                raise AssertionError(f"{path}: {len(answer.body)} other bytes")

    def uploads(self, wire, dice):
        for _ in range(dice.randrange(1, 4)):
            body = BYTES[: dice.choice([1, 1000, 70_000, 300_000, 3_000_000])]
            path = dice.choice(["/open/upload", "/secure/upload", "/signed/upload", "/api/upload"])
            number, target = self.target(path)
            if dice.random() < 0.5:
                wire.send(wire.head("POST", target, Transfer_Encoding="chunked"))
                for piece in pieces(body, dice):
                    wire.send(b"%x\r\n%b\r\n" % (len(piece), piece))
                wire.send(b"0\r\n\r\n")
            else:
                wire.send(wire.head("POST", target, Content_Length=len(body)))
                for piece in pieces(body, dice):
                    wire.send(piece)
            answer = self.finish(wire, number, "POST", path, (200, 401))
            if answer.status == 200 and hashlib.sha256(body).hexdigest().encode() not in answer.body:
                raise AssertionError(f"{path}: {len(body)} bytes became others")

    def pipelined(self, wire, dice):
        requests = [self.target(dice.choice(["/open/echo", "/api/echo", "/nowhere"])) for _ in range(5)]
        wire.send(b"".join(wire.head("GET", target) for _, target in requests))
        for number, target in requests:
            path = target.partition("?")[0]
            answer = self.finish(wire, number, "GET", path, (404,) if path == "/nowhere" else (200, 401))
            if answer.status == 200 and json.loads(answer.body)["target"].rpartition("=")[2] != str(number):
                raise AssertionError(f"{target}: {answer.body}")

    def empty_answers(self, wire, dice):
        self.exchange(wire, "HEAD", "/api/bytes/1000", allowed=(200, 401))
        for status in (204, 304, 404, 500):
            self.exchange(wire, "GET", f"/api/status/{status}", allowed=(status, 401))

    def faulty(self, wire, dice):
        """An answer that is cut after its head is passed on as far as it came, and then the connection breaks."""
        path = f"/echo/faulty/{next(self.numbers)}"
        self.simulator.fault("api", dice.choice(FAULTS), path=path)
        method, body = dice.choice([("GET", b""), ("POST", BYTES[:5000]), ("PUT", BYTES[:5000])])
        try:
            self.exchange(wire, method, f"/api{path}", body, allowed=(200, 401, 502))
        except Cut:
            pass

    def refused(self, wire, dice):
        self.exchange(wire, "GET", "/nowhere", allowed=(404,))
        self.exchange(wire, "GET", "/open/../x", allowed=(400,))

    def leaves_in_head(self, wire, dice):
        wire.send(wire.head("GET", "/open/never")[: dice.randrange(1, 20)])

    def leaves_in_upload(self, wire, dice):
        _, target = self.target(dice.choice(["/open/upload", "/signed/upload", "/api/upload"]))
        wire.send(wire.head("POST", target, Content_Length=2_000_000) + BYTES[: dice.randrange(1_000_000)])
        self.leave(wire, dice)

    def leaves_in_download(self, wire, dice):
        _, target = self.target(dice.choice(["/open/bytes/5000000", "/secure/bytes/5000000"]))
        wire.send(wire.head("GET", target))
        wire.read(dice.randrange(1, 100_000))
        self.leave(wire, dice)

    def leaves_before_answer(self, wire, dice):
        _, target = self.target("/api/slow?ms=100")
        wire.send(wire.head("GET", target))
        time.sleep(dice.random() / 20)
        self.leave(wire, dice)

    def leave(self, wire, dice):
        if dice.random() < 0.5:
            wire.reset()

    def sends_early(self, wire, dice):
        """The answer may come before the body is sent; the rest of the body then must not become a request."""
        number, target = self.target("/nowhere")
        wire.send(wire.head("POST", target, Content_Length=10_000) + BYTES[:100])
        self.finish(wire, number, "POST", "/nowhere", (404,))
        wire.reset()


def pieces(body, dice):
    size = dice.choice([100, 10_000, 1_000_000]) if len(body) > 1000 else 100
    return [body[start : start + size] for start in range(0, min(len(body), 200 * size), size)] + [
        rest for rest in [body[200 * size :]] if rest
    ]


class MixedTraffic(Stage):
    def test_each_request_gets_its_answer_and_one_line(self):
        print(f"seed {SEED}", flush=True)
        simulator = Simulator(self, nonces="rotate", token_seconds=5)
        simulator.set(api={"nonce": {"previous_accepted": 64}})
        authority = Authority(self.directory, "ours")
        plain = Origin(self, "plain-origin")
        secure = Origin(self, "tls-origin", authority.issue("server", "localhost"))
        trust = {"tls": {"ca": str(authority.certificate)}}
        tls_upstream = f"https://localhost:{secure.port}/"
        proofd = Proofd(
            self, {"svc": simulator.credential()},
            {
                "open": {"path": "/open", "upstream": f"http://127.0.0.1:{plain.port}/"},
                "secure": {"path": "/secure", "upstream": tls_upstream} | trust,
                "signed": {"path": "/signed", "upstream": tls_upstream, "credential": "svc"} | trust,
                "api": {"path": "/api", "upstream": simulator.api, "credential": "svc"},
            },
            simulator.environment, threads=LOOPS,
        )
        tail = self.start("tail", [PROOFD, "tail", "--json"], proofd.environment)
        traffic = Traffic(proofd, simulator)
        traffic.run()
        self.assertEqual(traffic.failures, [], proofd.child.output() + tail.output())
        self.assertEqual(proofd.curl("/open/alive"), {"200": 1})
        self.judge_log(traffic, proofd)
        self.assertTrue(tail.running, tail.output())
        self.assertEqual(proofd.child.stop(), 0, proofd.child.output())
        done = ", ".join(f"{count} {name}" for name, count in sorted(traffic.done.items()))
        result(f"mixed traffic for {SECONDS:g} s: {len(traffic.answered)} answers ({done})")

    def judge_log(self, traffic, proofd):
        seen = collections.defaultdict(list)

        def read():
            seen.clear()
            for record in proofd.records():
                number = record.get("target", "").rpartition("number=")[2]
                if number.isdigit():
                    seen[int(number)].append(record)
            return traffic.answered.keys() <= seen.keys()

        wait_until("each answer has its record", read)
        for number, status in traffic.answered.items():
            self.assertEqual([record["status"] for record in seen[number]], [status], seen[number])
        twice = [records for records in seen.values() if len(records) > 1]
        self.assertEqual(twice, [])
        refused = sum(status == 401 for status in traffic.answered.values())
        self.assertLessEqual(refused, max(1, REFUSED_SHARE_MAX * len(traffic.answered)))


if __name__ == "__main__":
    unittest.main()
