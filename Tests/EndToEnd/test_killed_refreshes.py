#!/usr/bin/env python3
"""proofd is killed at every step of a refresh, with a server that rotates refresh tokens and revokes a grant whose old token
comes again. What the server's journal and the store say at the moment of death decides what may be lost.

CrashingProofd is expected beside PROOFD.
"""

import concurrent.futures
import dataclasses
import fcntl
import json
import signal
import statistics
import time
import traceback
import unittest

from harness import SANITIZER, Stage, result, wait_until
from killed_installation import LOST, STORED, Installation
from refresh_kills import MOMENTS

WORKERS = 3
FAILURES_MAX = 5


@dataclasses.dataclass
class Outcome:
    remains: str
    survives: bool
    recovery_seconds: float
    cycle_seconds: float


class KilledRefreshes(Stage):
    logins_count = 25 if SANITIZER else 100

    def test_a_server_that_takes_a_used_token_again_for_a_while(self):
        outcomes, reuses = self.kill_all(overlap=30)
        lost = [name for name, outcome in outcomes.items() if not outcome.survives]
        self.report("overlap 30 s", outcomes, reuses)
        self.assertEqual(lost, [])
        self.assertEqual(reuses, 0)

    def test_a_server_that_takes_a_used_token_never_again(self):
        outcomes, reuses = self.kill_all(overlap=0)
        lost = {name for name, outcome in outcomes.items() if not outcome.survives}
        self.report("no overlap", outcomes, reuses)
        self.assertEqual(lost, {name for name, outcome in outcomes.items() if outcome.remains == LOST})
        self.assertEqual(reuses, len(lost))

    def report(self, what, outcomes, reuses):
        def milliseconds(values):
            return f"{statistics.median(values) * 1000:.0f} ms ({max(values) * 1000:.0f} ms at most)"

        result(
            f"{what}: {len(outcomes)} logins killed, {sum(not outcome.survives for outcome in outcomes.values())} lost, "
            f"{sum(outcome.remains == LOST for outcome in outcomes.values())} between send and store, "
            f"{reuses} reuses detected; start to answer {milliseconds([o.recovery_seconds for o in outcomes.values()])}, "
            f"cycle {milliseconds([o.cycle_seconds for o in outcomes.values()])}")

    def kill_all(self, overlap):
        """What became of each login, and how many reuses the servers have seen."""
        shares = [range(number, self.logins_count, WORKERS) for number in range(WORKERS)]
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
            installations = list(workers.map(lambda share: self.installation(share, overlap), shares))
            parts = list(workers.map(lambda installation: self.kill_each(installation, overlap), installations))
        outcomes, failures = {}, []
        for more_outcomes, more_failures in parts:
            outcomes |= more_outcomes
            failures += more_failures
        if failures:
            self.fail(f"{len(failures)} of {self.logins_count}:{''.join(failures[:FAILURES_MAX])}")
        grants = [grant for installation in installations for grant in installation.simulator.grants().values()]
        return outcomes, sum(grant["reuses"] for grant in grants)

    def installation(self, numbers, overlap):
        # Each moment meets logins that are bound to a key and logins that are not.
        return Installation(self, {number: number // len(MOMENTS) % 2 == 0 for number in numbers}, overlap)

    def kill_each(self, installation, overlap):
        """What became of each of its logins, and what should not have happened."""
        outcomes, failures = {}, []
        for login in installation.logins:
            moment = MOMENTS[login.number % len(MOMENTS)]
            try:
                outcomes[login.name] = self.kill(installation, login, moment, overlap)
            except Exception:
                failures.append(f"\n{login.name}, killed at {moment}: {traceback.format_exc()}")
                installation.proofd.child.stop(signal.SIGKILL)
        if not failures:
            self.check_survivors(installation, outcomes)
        return outcomes, failures

    def kill(self, installation, login, moment, overlap):
        began = time.monotonic()
        installation.simulator.forget()
        installation.route([login])
        moment.strike(installation, login)
        installation.refuse_answers()
        remains = installation.remains(login)
        self.assertEqual(remains, moment.leaves_with_overlap if overlap else moment.leaves)
        is_known = remains == STORED or installation.row(login)[1] != "usable"
        before = installation.presentations(login)
        self.assertLessEqual([verdict for _, verdict in before].count("accepted"), len(moment.kills))

        recovery_began = time.monotonic()
        if login.number % 2 and installation.row(login)[2] is not None:
            self.recover_unasked(installation, login)
        installation.proofd.begin()
        answer = installation.answer(login)
        recovery_seconds = time.monotonic() - recovery_began
        _, account = installation.account(login)
        installation.end_life()

        survives = account["state"] == "ready"
        self.assertEqual(account["state"], "ready" if survives else "rotation_interrupted", account)
        self.assertEqual(answer, (200, None) if survives else (511, "login_required"))
        rotation, condition, intent = installation.row(login)
        self.assertEqual((condition, intent), ("usable" if survives else "rotation_interrupted", None))
        self.assertEqual(rotation, 1 if survives else 0)
        presented = installation.presentations(login)
        self.assertTrue(all(rotation == 0 for rotation, _ in presented), presented)
        # The token is sent again by the life that finds out, once if it is accepted, and never when the end is known.
        again = presented[len(before):]
        self.assertEqual(again == [], is_known, presented)
        self.assertEqual([verdict for _, verdict in again].count("accepted"), 1 if survives and again else 0, presented)
        self.assertEqual(installation.refreshed(), {login.grant} if presented else set())
        return Outcome(remains, survives, recovery_seconds, time.monotonic() - began)

    def recover_unasked(self, installation, login):
        """A refresh that was begun is taken up at the start, also if no route is there to ask for the token."""
        installation.route([])
        installation.proofd.begin()
        wait_until("the refresh has an end", lambda: installation.has_refreshed(login))
        installation.end_life()
        installation.route([login])

    def check_survivors(self, installation, outcomes):
        """What is left is good for more than the token it has: every survivor refreshes once more."""
        simulator, proofd = installation.simulator, installation.proofd
        simulator.ask("POST", "/tokens/revoke")
        installation.route(installation.logins)
        proofd.begin()
        for login in installation.logins:
            if outcomes[login.name].survives:
                self.assertEqual(installation.answer(login), (200, None), login.name)
        finished = proofd.verb("status", "--json")
        states = {account["name"]: account["state"] for account in json.loads(finished.stdout)["credentials"]}
        installation.end_life()
        for login in installation.logins:
            survives = outcomes[login.name].survives
            self.assertEqual(states[login.name], "ready" if survives else "rotation_interrupted")
            self.assertEqual(installation.row(login)[0], 2 if survives else 0)
        with installation.store() as database:
            self.assertEqual(database.execute("SELECT count(*) FROM intents").fetchone(), (0,))
        # The file of a lease may outlive its holder, which keeps nobody from it.
        for lease in (proofd.home / "state" / "leases").iterdir():
            with lease.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


if __name__ == "__main__":
    unittest.main()
