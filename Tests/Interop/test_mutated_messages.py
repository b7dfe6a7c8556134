#!/usr/bin/env python3
"""Requests and responses of the batteries, changed at random: nobody gets another's answer, and servers and log agree.

The seed is fixed, so that a failure comes back; MUTATION_SEED sets another one.
"""

import asyncio
import os
import random
import unittest

from harness import result
from smuggling.battery import Battery, Exchange
from smuggling.mutation import mutate, pieces
from smuggling.recording_origin import Script
from smuggling.requests import CASES
from smuggling.responses import CLEAN, REPLIES, SPOILT
from smuggling.vocabulary import ONE, TWO
from test_smuggling import MARKER, ROUTES
from test_splitting import BAD, NEXT, OTHER

# Those that are refused as they are come less often: a second flaw shows little.
REQUESTS = [
    case.raw for case in CASES for _ in range(20 if case.expected in (ONE, TWO) else 1) if len(case.raw) < 20_000
]
RESPONSES = [
    reply.raw.replace(b"@later", b"") for reply in REPLIES
    for _ in range(20 if reply.expected in (CLEAN, SPOILT) else 1)
]
SILENCE_SECONDS = 0.4


class MutatedMessages(Battery):
    request_count, response_count = 1_500, 700
    at_once = 96
    seed = 9449

    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("MUTATION_SEED", self.seed))
        print(f"seed {self.seed}", flush=True)

    def test_requests(self):
        asyncio.run(self.run_all(map(self.request, range(self.request_count))))
        self.check()
        result(f"{self.request_count} mutated requests, seed {self.seed}: {self.answered['own']} own answers, "
               f"{self.answered['upstream']} of upstreams, all logged where they arrived")

    async def request(self, number):
        name, own = next(self.names), random.Random(f"request {number} {self.seed}")
        raw = mutate(own, own.choice(REQUESTS), REQUESTS)
        data = self.fill(raw + MARKER, name, own.choice(ROUTES))
        exchange = Exchange(f"mutated request {number}, seed {self.seed}", pieces(own, data))
        await exchange.run(self.proofd.port, SILENCE_SECONDS)
        self.check_marker(self.read(exchange), exchange)

    def check_marker(self, answers, exchange):
        """The marker's answer comes once, and last."""
        marked = [index for index, answer in enumerate(answers) if answer.seen.startswith("GET /marker-")]
        if marked not in ([], [len(answers) - 1]):
            self.problem(f"the marker's answer is not the last: {answers}", exchange)

    def test_responses(self):
        asyncio.run(self.run_all(map(self.response, range(self.response_count))))
        self.check()
        result(f"{self.response_count} mutated responses, seed {self.seed}: {self.answered['own']} own answers, "
               f"{self.cut_off} broken off, every client behind them got its own answer")

    async def response(self, number):
        name, own = next(self.names), random.Random(f"response {number} {self.seed}")
        raw = mutate(own, own.choice(RESPONSES), RESPONSES)
        method, then = own.choice([b"GET", b"GET", b"HEAD"]), own.choice(["keep", "close", "close", "reset"])
        self.origin.scripts[f"/case-{name}"] = Script([raw], then, reusable=True)
        text = f"mutated response {number}, seed {self.seed}\n  answered {raw[:400]!r} {then}"
        first = Exchange(text, [self.fill(BAD.replace(b"METHOD", method) + NEXT, name, "oo")])
        await first.run(self.proofd.port, SILENCE_SECONDS)
        answers = self.read(first, scripted=True)
        self.check_marker(answers, first)
        for answer in answers[1:]:
            if (answer.status, answer.seen, answer.whole) != (200, f"GET /marker-{name}", True):
                self.problem(f"the next request got {answer}", first)
        other = Exchange(text, [self.fill(OTHER, name, "oo")])
        await other.run(self.proofd.port)
        got = self.read(other)
        if [(answer.status, answer.seen, answer.whole) for answer in got] != [(200, f"GET /second-{name}", True)]:
            self.problem(f"another client got {got}", other)


if __name__ == "__main__":
    unittest.main()
