#!/usr/bin/env python3
"""Clients and upstreams that stall, die or lie at every step of an exchange, in all combinations.

However it goes: a clean answer or a closed connection, never a cut answer that looks whole; one record for each request
whose head arrived; afterwards as many descriptors and as much memory as before, and the next request works.

HOSTILE_SEED repeats the exchanges of a run that failed.
"""

import collections
import itertools
import os
import queue
import random
import socket
import threading
import traceback
import unittest

from certificates import Authority
from hostile_behaviours import BEHAVIOURS, GREETINGS, TokenCall
from hostile_clients import CLIENTS, TAKES_LITTLE, Exchange, Talk
from hostile_upstream import Upstream
from harness import Proofd, Stage, free_port, result, wait_until
from wire import Wire

TIMEOUTS = {
    # It also holds for a client that connects and is slow to begin, as ours are on a busy machine.
    "head": "2s", "body": "400ms", "send": "500ms", "idle": "2s", "connect": "400ms", "response": "600ms",
    "idle_upstream": "1s",
}
WORKERS = 40
UNASKED_WORKERS, UNASKED_COUNT = 10, 1_024
CONNECTING_SHARE = 0.12
MOODY = 3  # credentials whose issuer is as hostile as the others
FAILURES_MAX = 5


class HostilePeers(Stage):
    exchanges_count, warm_up_count = 1_000, 500
    growth_kilobytes_max = 8_192  # the allocator's: which bodies meet by chance decides how much it keeps
    seed = int(os.environ.get("HOSTILE_SEED", "1"))

    def setUp(self):
        super().setUp()
        print(f"seed {self.seed}", flush=True)
        self.dice = random.Random(self.seed)
        self.numbers = itertools.count(1)
        self.exchanges = {}
        self.failures, self.refused_heads, self.heads_that_may_be_refused = [], 0, 0
        self.lock = threading.Lock()
        self.start_peers()

    def start_peers(self):
        authority = Authority(self.directory, "ours")
        certificate = authority.issue("server", "localhost")
        self.plain = self.upstream(self.exchange_of)
        secure = self.upstream(self.exchange_of, certificate)
        issuer_dice = random.Random(self.seed)
        issuer = self.upstream(lambda _: TokenCall(issuer_dice))
        calm = self.upstream(lambda _: TokenCall(None))
        plain, tls = f"http://127.0.0.1:{self.plain.port}/", f"https://localhost:{secure.port}/"

        def route(path, upstream, credential=None):
            route = {"path": f"/{path}", "upstream": upstream}
            if upstream.startswith("https"):
                route["tls"] = {"ca": str(authority.certificate)}
            return route | ({"credential": credential} if credential else {})

        routes = {
            "open": route("open", plain), "tls": route("tls", tls), "bearer": route("bearer", plain, "fixed"),
            "dpop": route("dpop", plain, "calm"), "dpop-tls": route("dpop-tls", tls, "calm"),
            **{f"waiting{number}": route(f"waiting{number}", plain, f"moody{number}") for number in range(MOODY)},
        }
        self.usual = [f"/{path}" for path in routes]
        for number, greet in enumerate(GREETINGS.values()):
            port = self.upstream(self.exchange_of, greet=greet).port
            routes |= {
                f"greets{number}": route(f"greets{number}", f"http://127.0.0.1:{port}/"),
                f"greets{number}-tls": route(f"greets{number}-tls", f"https://localhost:{port}/"),
            }
        routes |= {
            "nobody": route("nobody", f"http://127.0.0.1:{free_port()}/"),
            "no-place": route("no-place", f"http://127.0.0.1:{self.full_listener()}/"),
        }
        self.connecting = [f"/{path}" for path in routes if f"/{path}" not in self.usual]
        self.proofd = Proofd(
            self,
            {
                "fixed": {"provider": "static", "token": {"env": "FIXED"}},
                "calm": self.client_of(calm), **{f"moody{number}": self.client_of(issuer) for number in range(MOODY)},
            },
            routes, {"FIXED": "a-fixed-token-for-hostile-peers", "SECRET": "a-secret-of-hostile-peers"},
            threads=2, timeouts=TIMEOUTS, token_timeout="500ms",
        )

    def upstream(self, exchange_of, certificate=None, greet=None):
        upstream = Upstream(exchange_of, certificate, greet)
        self.addCleanup(upstream.close)
        return upstream

    def full_listener(self):
        """The port of one that accepts nothing and has no place to wait: a connection to it never is one."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.addCleanup(listener.close)
        for _ in range(4):
            waiting = socket.socket()
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
            self.addCleanup(waiting.close)
        return listener.getsockname()[1]

    def client_of(self, issuer):
        return {
            "provider": "oidc", "endpoints": {"token": f"http://127.0.0.1:{issuer.port}/token"},
            "grant": "client_credentials", "client_id": "svc", "client_secret": {"env": "SECRET"}, "dpop": True,
        }

    def exchange_of(self, target):
        return self.exchanges[int(target.rpartition("number=")[2])]

    def new_exchange(self, method, behaviour, scene="all is well"):
        exchange = Exchange(next(self.numbers), method, behaviour, scene)
        self.exchanges[exchange.number] = exchange
        return exchange

    def test_whatever_peers_do(self):
        self.check_that_all_is_well()
        before = self.settled_descriptors()
        plan = self.plan()
        self.play(plan[: self.warm_up_count])
        self.settled_descriptors(before)
        warm = self.proofd.child.memory_kilobytes()
        self.play(plan[self.warm_up_count :])
        self.check_that_all_is_well()
        after = self.settled_descriptors(before)
        self.judge_log()
        grown = self.proofd.child.memory_kilobytes() - warm
        self.assert_memory(grown, self.growth_kilobytes_max, f"from {warm} kB")
        result(
            f"{len(plan)} hostile exchanges, {len(self.exchanges)} requests: descriptors {before} and {after}, "
            f"{warm} kB and {warm + grown} kB")

    def test_answers_that_nobody_asked_for(self):
        """On few connections that are used again and again: who finds one on an idle connection must close it."""
        behaviours = ["whole", *(behaviour for behaviour in BEHAVIOURS if "unasked" in behaviour)]
        scenes = itertools.cycle(itertools.product(("stays", "pipelines"), behaviours, self.usual))
        plan = [(*scene, self.dice.random()) for scene in itertools.islice(scenes, UNASKED_COUNT)]
        self.dice.shuffle(plan)
        self.play(plan, UNASKED_WORKERS)
        self.judge_log()
        taken = sum(exchange.took_unasked for exchange in self.exchanges.values())
        result(f"{taken} of {len(self.exchanges)} requests were on their way when an answer came that was not theirs")

    def plan(self):
        """Pairs of a client and a behaviour, each as often as any other, and where they meet."""
        pairs = list(itertools.product(CLIENTS, BEHAVIOURS))
        plan = []
        while len(plan) < self.exchanges_count:
            self.dice.shuffle(pairs)
            for client, behaviour in pairs:
                paths = self.connecting if self.dice.random() < CONNECTING_SHARE else self.usual
                plan.append((client, behaviour, self.dice.choice(paths), self.dice.random()))
        return plan[: self.exchanges_count]

    def play(self, plan, workers_count=WORKERS):
        waiting = queue.SimpleQueue()
        for scene in plan:
            waiting.put(scene)

        def work():
            while len(self.failures) < FAILURES_MAX:
                try:
                    scene = waiting.get_nowait()
                except queue.Empty:
                    return
                self.meet(*scene)

        workers = [threading.Thread(target=work) for _ in range(workers_count)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if self.failures:
            self.fail("\n".join(self.failures))
        self.assertTrue(self.proofd.child.running, self.proofd.child.output())

    def meet(self, client, behaviour, path, seed):
        talk, scene = None, f"{client} × {behaviour} at {path}"
        try:
            with Wire(self.proofd.port, receive_buffer=4096 if client in TAKES_LITTLE else None) as wire:
                talk = Talk(wire, path, random.Random(seed), lambda method: self.new_exchange(method, behaviour, scene))
                CLIENTS[client](talk)
        except Exception:
            self.failures.append(f"{scene}: {traceback.format_exc(limit=-4)}")
        if talk is None:
            return
        for exchange in talk.exchanges:
            exchange.over.set()
        with self.lock:
            self.refused_heads += talk.refused_heads
            self.heads_that_may_be_refused += talk.heads_that_may_be_refused

    # Afterwards

    def check_that_all_is_well(self):
        for path in ("/open", "/tls", "/bearer", "/dpop", "/dpop-tls"):
            with Wire(self.proofd.port) as wire:
                exchange = self.new_exchange("GET", "whole")
                wire.send(wire.head("GET", f"{path}?number={exchange.number}"))
                self.assertEqual(wire.answer().status, 200)
        self.assertIn(self.proofd.verb("status").returncode, (0, 1))  # 1: a credential of the moody issuer

    def settled_descriptors(self, expected=None):
        """How many are open when nothing goes on any more: idle and lingering connections have their time."""
        counts = collections.deque(maxlen=150)

        def is_settled():
            counts.append(self.proofd.child.descriptors)
            if expected is not None:
                return counts[-1] <= expected
            return len(counts) == counts.maxlen and len(set(counts)) == 1

        wait_until(f"descriptors are back at {expected}", is_settled, seconds=30)
        return counts[-1]

    def judge_log(self):
        def by_number():
            numbered, others = collections.defaultdict(list), []
            for record in self.proofd.records():
                number = record.get("target", "").rpartition("number=")[2]
                (numbered[int(number)] if number.isdigit() else others).append(record)
            return numbered, others

        def all_are_there():
            numbered, _ = by_number()
            return all(
                number in numbered for number, exchange in self.exchanges.items()
                if exchange.head_was_sent or exchange.status is not None)

        try:
            wait_until("all records", all_are_there)
        except TimeoutError:
            pass  # said below, request by request
        numbered, others = by_number()
        for number, exchange in self.exchanges.items():
            records = numbered[number]
            what = (exchange.scene, exchange.method, number, exchange.status, records)
            self.assertEqual(exchange.lies, [], what)
            if exchange.took_unasked:
                self.assertTrue(exchange.met_unasked, f"an answer that was there before the request: {what}")
            self.assertLessEqual(len(records), 1, what)
            if exchange.head_was_sent:
                self.assertEqual(len(records), 1, what)
            if exchange.status is not None:
                self.assertEqual([record["status"] for record in records], [exchange.status], what)
            if exchange.was_cut and records:
                self.assertTrue(records[0]["status"] == 499 or "error" in records[0], what)
        self.assertGreaterEqual(len(others), self.refused_heads)
        self.assertLessEqual(len(others), self.heads_that_may_be_refused, others[:5])


if __name__ == "__main__":
    unittest.main()
