#!/usr/bin/env python3
"""Response splitting: whatever a server answers, and however the bytes fall, the next request on that client's
connection and another client's get their own answers, and the log says what became of the one answered badly.
"""

import asyncio
import unittest

from harness import result
from smuggling import responses as replies
from smuggling.battery import Battery, Exchange, cut
from smuggling.recording_origin import NEVER_IN_TRAILERS, Script
from smuggling.vocabulary import spell

BAD = spell(b"METHOD @t HTTP/1.1\r\nHost: @host\r\n\r\n")
NEXT = spell(b"GET @m HTTP/1.1\r\nHost: @host\r\nConnection: close\r\n\r\n")
OTHER = NEXT.replace(b"/marker-", b"/second-")
LATER_SECONDS = 0.03
BYTEWISE_MAX = 200
# What becomes of the bad answer's request: status (None: the server's own) and error in the log.
LOGGED = {
    replies.REFUSED: (502, "upstream_protocol"), replies.CLOSED: (502, "upstream_closed"), replies.CLEAN: (None, None),
    replies.SPOILT: (None, None), replies.LATE: (None, None), replies.CUT: (None, "upstream_closed"),
    replies.BROKEN_OFF: (None, "upstream_protocol"),
}


def splits(reply):
    raw = reply.raw
    if reply.expected == replies.LATE:
        yield "late", raw.split(b"@later")
        return
    yield "whole", [raw]
    # Cut elsewhere, what is too much may come when the next request has been sent: nobody could tell it from an answer.
    if reply.expected != replies.SPOILT and len(raw) > 1:
        ends = [at for at in range(len(raw) - 1) if raw[at:at + 2] == b"\r\n"][:8]
        yield "cut in lines", cut(raw, *(end + 1 for end in ends), *(end + 2 for end in ends), len(raw) - 1)
        if len(raw) <= BYTEWISE_MAX:
            yield "byte by byte", cut(raw, *range(len(raw)))


class Splitting(Battery):
    def test_responses(self):
        self.expected = {}
        ways = [(reply, how, pieces) for reply in replies.REPLIES for how, pieces in splits(reply)]
        asyncio.run(self.run_all(
            [self.response(*way) for way in ways if way[1] != "late"],
            alone=[self.response(*way, late=True) for way in ways if way[1] == "late"]))
        self.check()
        self.check_records()
        result(
            f"{len(replies.REPLIES)} responses, cut in {len(ways)} ways: {self.answered['own']} refused, "
            f"{self.cut_off} broken off, and every client behind them got its own answer")

    async def response(self, reply, how, pieces, late=False):
        name = next(self.names)
        self.origin.scripts[f"/case-{name}"] = Script(
            pieces, reply.then, LATER_SECONDS if late else 0, reusable=reply.expected == replies.CLEAN)
        text = f"{reply.name} ({how}): {reply.expected}\n  answered {reply.raw[:300]!r}"
        bad = BAD.replace(b"METHOD", reply.method.encode())
        first = Exchange(text, [self.fill(bad if late else bad + NEXT, name, "oo")])
        await first.run(self.proofd.port, 0.2 if late else 20)
        answers = self.read(first)
        if not self.is_expected(reply, how, answers, first):
            self.problem(f"unexpected: {answers}", first)
        self.expected[f"/oo/case-{name}"] = reply, first
        if late:
            await asyncio.sleep(2 * LATER_SECONDS)
        other = Exchange(text, [self.fill(OTHER, name, "oo")])
        await other.run(self.proofd.port)
        got = self.read(other)
        if [(answer.status, answer.seen, answer.whole) for answer in got] != [(200, f"GET /second-{name}", True)]:
            self.problem(f"another client got {got}", other)

    def is_expected(self, reply, how, answers, exchange):
        follows = [answer.seen.startswith("GET /marker-") and answer.whole for answer in answers[1:]]
        if any(name in NEVER_IN_TRAILERS for answer in answers for name, _ in answer.trailers):
            return False
        if reply.then == "reset" and answers and answers[0].own == "upstream_closed":
            return follows == [True]  # a reset takes away what was not read yet
        status, error = LOGGED[reply.expected]
        if reply.expected in (replies.CUT, replies.BROKEN_OFF):
            if answers and answers[0].own:  # nothing of the bad answer had gone out
                return answers[0].own == error and answers[0].status == 502 and follows == [True]
            if reply.expected == replies.BROKEN_OFF and how == "whole":
                return False
            return not follows and exchange.closed and not (answers and answers[0].whole)
        if follows != ([] if how == "late" else [True]):
            return False
        if error:
            return answers[0].own == error and answers[0].status == status
        return answers[0].own is None and answers[0].whole and answers[0].body == reply.body

    def check_records(self):
        records = {}
        for record in self.proofd.records():
            records.setdefault(record.get("target"), []).append(record)
        for target, (reply, exchange) in self.expected.items():
            status, error = LOGGED[reply.expected]
            found = records.get(target, [])
            if reply.then == "reset" and [record.get("error") for record in found] == ["upstream_closed"]:
                continue  # a reset takes away what was not read yet
            if len(found) != 1 or found[0].get("error") != error or status not in (None, found[0]["status"]):
                self.problem(f"logged: {found}", exchange)
        self.no_problems()


if __name__ == "__main__":
    unittest.main()
