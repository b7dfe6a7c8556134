#!/usr/bin/env python3
"""Request smuggling: whatever a client sends, and however the bytes fall, nginx, Apache and an origin behind proofd see
exactly the requests proofd logged, and what is sent behind it gets its own answer or none.
"""

import asyncio
import unittest

from harness import result
from smuggling import requests, vocabulary
from smuggling.battery import Battery, Exchange, cut

MARKER = vocabulary.spell(b"GET @m HTTP/1.1\r\nHost: @host\r\nConnection: close\r\n\r\n")
STARVED_SECONDS = 0.4
ROUTES = ["oo", "ne", "ae", "np", "ap"]
BYTEWISE_MAX = 400


def splits(raw, marker):
    """Whole, and cut where a reader is in the middle of something."""
    whole, length = raw + marker, len(raw)
    head = raw.find(b"\r\n\r\n")
    yield "whole", [whole]
    yield "cut in lines", cut(whole, 2, whole.find(b"\r\n") + 1, head + 1, head + 2, head + 3, length - 1, length + 1)
    yield "cut in the body", cut(whole, head + 4, head + 5, head + 6, (head + length) // 2, length - 2, length)
    if len(whole) <= BYTEWISE_MAX:
        yield "byte by byte", cut(whole, *range(len(whole)))


class Smuggling(Battery):
    def test_requests(self):
        jobs = []
        for index, case in enumerate(requests.CASES):
            for route in ROUTES:
                name = next(self.names)
                raw, marker = self.fill(case.raw, name, route), self.fill(MARKER, name, route)
                everyway = route in (ROUTES[0], ROUTES[1 + index % 2])
                for how, pieces in splits(raw, marker):
                    if everyway or how == "whole":
                        jobs.append(self.request(case, route, how, pieces))
        asyncio.run(self.run_all(jobs))
        self.check()
        hidden = [r["target"] for r in self.proofd.records() if "hidden" in r.get("target", "")]
        self.assertEqual(hidden, [])
        result(
            f"{len(requests.CASES)} requests, {len(jobs)} times in all: {self.answered['own']} own answers, "
            f"{self.answered['upstream']} of upstreams, every one of them logged where it arrived")

    async def request(self, case, route, how, pieces):
        exchange = Exchange(f"{case.name} ({route}, {how}): {case.expected}", pieces)
        starved = case.expected == vocabulary.STARVED
        await exchange.run(self.proofd.port, STARVED_SECONDS if starved else 20)
        answers = self.read(exchange)
        if not self.is_expected(case.expected, answers, exchange, plain=route in ("np", "ap")):
            self.problem(f"unexpected: {answers}", exchange)

    def is_expected(self, expected, answers, exchange, plain):
        """plain: a server that may answer before it has read the body, and close."""
        own = [answer.own for answer in answers if "marker" not in answer.seen]
        marked = len(answers) - len(own)
        if expected == vocabulary.STARVED:
            return not marked and len(own) <= 1
        if not exchange.closed:
            return False
        if expected == vocabulary.BODY_REFUSED:
            # A server may have answered before the body broke: with a refusal, or if it reads no body with anything.
            early = own == [None] and (plain or answers[0].status >= 400)
            return not marked and (own in ([], ["bad_request"]) or early)
        if not all(answer.whole for answer in answers):
            return False
        match expected:
            case vocabulary.REFUSED: return own == ["bad_request"] and not marked
            case vocabulary.TOO_LARGE: return own == ["head_too_large"] and not marked
            case vocabulary.NOT_SERVED: return len(own) == 1 and own[0] not in (None, "bad_request")
            case vocabulary.ONE: return own == [None] and (marked == 1 or plain)
            case vocabulary.TWO: return (own == [None, None] and marked == 1) or (plain and own[:1] == [None])
            case vocabulary.EARLY: return own == [None]
            case vocabulary.CLOSES: return (own == [None] or exchange.reset) and not marked
            case vocabulary.ONE_AND_REFUSED: return own == [None, "bad_request"] and not marked


if __name__ == "__main__":
    unittest.main()
