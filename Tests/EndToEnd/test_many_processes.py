#!/usr/bin/env python3
"""One credential store used by several daemons and many commands at once, and refreshes that hang: what one account waits
for, no other does."""

import os
import subprocess
import threading
import time
import unittest

from harness import SANITIZER, result, wait_until, with_environment
from stored_accounts import StoredAccounts

PROMPT_SECONDS_MAX = 10 if SANITIZER else 1


class Expiry(StoredAccounts):
    """Everybody wants a token at the moment it expires."""

    rounds, commands, requests = 4, 20, 20
    token_seconds = 10 if SANITIZER else 2

    def test_two_daemons_and_20_commands_make_one_refresh(self):
        accounts = [f"a{number}" for number in range(self.rounds)]
        self.begin(*accounts, token_seconds=self.token_seconds)
        daemons = [self.serve(), self.serve()]
        nobody = self.run_command(*self.command("status"), environment=self.without_daemon)
        self.assertEqual(nobody.returncode, 4, "the commands are to find no daemon")
        seconds = []
        for account in accounts:
            self.simulator.set(authorization_server={"token_lifetime_seconds": self.token_seconds})
            began = time.monotonic()
            for daemon in daemons:
                self.assertEqual(self.get(daemon, account)[:2], (200, None))
            held = self.token(account)
            received = time.monotonic()
            self.assertLess(received - began, 0.7 * self.token_seconds, "too slow a machine for this test")
            self.simulator.set(authorization_server={"token_lifetime_seconds": 300})
            before = self.refreshes()[account]
            self.simulator.forget()
            tokens = self.all_at_once(daemons, account, at=received + self.token_seconds)
            seconds.append(time.monotonic() - received - self.token_seconds)
            self.assertEqual(self.simulator.token_requests, 1, account)
            self.assertEqual(self.refreshes()[account], before + 1)
            self.assertEqual(len(set(tokens)), 1, "all have the one new token")
            self.assertNotEqual(tokens[0], held)
        result(
            f"2 daemons and {self.commands} commands at expiry, {self.rounds} times: 1 refresh each; all answered within "
            f"{max(seconds):.1f} s")

    def token(self, account):
        finished = self.run_command(*self.command("token", f"acme/{account}"), environment=self.without_daemon)
        self.assertEqual(finished.returncode, 0, finished.stderr)
        return finished.stdout

    def all_at_once(self, daemons, account, at):
        """Starts everybody, lets them loose together, and returns what `proofd token` printed."""
        gate_out, gate_in = self.pipe()

        def start(arguments, environment):
            waits = ["sh", "-c", 'read -r _; exec "$@" </dev/null', "sh", *map(str, arguments)]
            child = subprocess.Popen(
                waits, stdin=gate_out, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=with_environment(environment))
            self.addCleanup(child.kill)
            return child

        words = self.command("token", f"acme/{account}")
        commands = [start(words, self.without_daemon) for _ in range(self.commands)]
        curls = [
            start([
                "curl", "--silent", "--noproxy", "*", "--parallel", "--parallel-immediate", "--output", "/dev/null",
                "--write-out", "%{http_code}\n", f"{daemon.url}/{account}/echo?[1-{self.requests}]",
            ], None)
            for daemon in daemons
        ]
        wait_until("the token has expired", lambda: time.monotonic() >= at)
        gate_in.close()
        for curl in curls:
            self.assertEqual(curl.communicate(timeout=60)[0].split(), [b"200"] * self.requests)
        tokens = []
        for command in commands:
            out, err = command.communicate(timeout=60)
            self.assertEqual((command.returncode, err), (0, b""))
            tokens.append(out)
        return tokens

    def pipe(self):
        """Readers see the end of it when the writer is closed."""
        reader, writer = os.pipe()
        files = os.fdopen(reader, "rb"), os.fdopen(writer, "wb")
        for file in files:
            self.addCleanup(file.close)
        return files


class Hanging(StoredAccounts):
    """A token endpoint that has refreshed some accounts and does not answer."""

    token_timeout = 2
    stuck = [f"stuck{number}" for number in range(8)]

    def setUp(self):
        super().setUp()
        self.begin("other", *self.stuck)
        for account in self.stuck:
            self.simulator.fault(
                "as", {"fault": "hold", "at": "after", "gate": "shut"}, next="always", grant=self.grants[account])
        self.addCleanup(self.open_gate)

    def open_gate(self):
        self.simulator.ask("POST", "/gates/shut/open")

    def waiting(self, count):
        wait_until(f"{count} refreshes hang", lambda: self.simulator.waiting("shut") >= count)

    def promptly(self, environment, *words, code=0):
        """What a command prints that answers at once."""
        began = time.monotonic()
        finished = self.run_command(*self.command(*words), environment=environment)
        seconds = time.monotonic() - began
        self.assertEqual(finished.returncode, code, (words, finished.stderr))
        self.assertLess(seconds, PROMPT_SECONDS_MAX, words)
        self.slowest = max(getattr(self, "slowest", (0, "")), (seconds, words[0]))
        return finished.stdout.decode()

    def verbs_answer(self, environment):
        """Every verb that has to do with accounts, of one whose refresh hangs and of one that is well."""
        self.promptly(environment, "credentials", "list")
        for account in ("acme/other", f"acme/{self.stuck[0]}"):
            self.promptly(environment, "credentials", "show", account)
            self.promptly(environment, "whoami", account)
            self.promptly(environment, "credentials", "tag", account, "--add", "seen")
            self.promptly(environment, "credentials", "default", account)
        self.assertEqual(len(self.promptly(environment, "credentials", "find", "--tag", "seen").splitlines()), 3)
        self.promptly(environment, "credentials", "tag", "acme/other", "--remove", "seen")
        self.promptly(environment, "credentials", "tag", f"acme/{self.stuck[0]}", "--remove", "seen")
        self.promptly(environment, "token", "acme/other")
        self.promptly(environment, "headers", "acme/other", "--url", f"{self.simulator.api}/echo")

    def test_a_refresh_that_hangs_holds_up_nobody_else(self):
        daemon = self.serve(token_timeout=f"{self.token_timeout}s")
        self.waiting(len(self.stuck))  # the daemon's own first look at its accounts
        self.assertEqual(self.get(daemon, "other")[:2], (200, None))
        answers = []
        hanging = threading.Thread(target=lambda: answers.append(self.get(daemon, self.stuck[0])))
        hanging.start()
        for _ in range(20):
            status, _, seconds = self.get(daemon, "other")
            self.assertEqual(status, 200)
            self.assertLess(seconds, PROMPT_SECONDS_MAX)
        self.verbs_answer(daemon.environment)
        hanging.join()
        (status, error, seconds), = answers
        self.assertEqual((status, error), (503, "token_unavailable"))
        self.assertTrue(self.token_timeout - 0.1 <= seconds < self.token_timeout + 1, seconds)
        self.promptly(daemon.environment, "status", code=1)
        self.verbs_answer(self.without_daemon)
        waiting = self.start("waiting", self.command("token", f"acme/{self.stuck[1]}"), self.without_daemon)
        self.assertEqual(self.get(daemon, "other")[:2], (200, None))
        self.assertTrue(waiting.running)
        self.open_gate()
        self.assertEqual(waiting.process.wait(10), 0, waiting.output())
        for account in self.stuck:
            self.assertEqual(self.get(daemon, account)[:2], (200, None))
        wait_until("all is well", lambda: daemon.verb("status").returncode == 0)
        self.assertEqual(self.refreshes(), dict.fromkeys(self.accounts, 1))
        result(f"{len(self.stuck)} refreshes hang: the slowest verb, {self.slowest[1]}, took {self.slowest[0]:.2f} s")

    def test_an_account_is_removed_while_its_refresh_hangs(self):
        daemon = self.serve(token_timeout=f"{self.token_timeout}s")
        self.waiting(len(self.stuck))
        gone, gone_too = self.stuck[:2]
        self.promptly(daemon.environment, "credentials", "remove", f"acme/{gone}", "--yes")
        self.promptly(self.without_daemon, "credentials", "remove", f"acme/{gone_too}", "--yes")
        self.open_gate()
        for account in (gone, gone_too):
            self.assertEqual(self.get(daemon, account)[:2], (511, "login_required"))
        for account in ("other", *self.stuck[2:]):
            self.assertEqual(self.get(daemon, account)[:2], (200, None))
        left = self.promptly(self.without_daemon, "credentials", "list")
        self.assertNotIn(f"acme/{gone}", left.split())
        self.assertNotIn(f"acme/{gone_too}", left.split())
        wait_until("what came for them is revoked", lambda: not any(
            grant["alive"] for grant in map(self.simulator.grants().get, (self.grants[gone], self.grants[gone_too]))))


class SteadyState(StoredAccounts):
    """Two daemons on one store that are in use all the time, with an issuer that takes its time."""

    seconds, token_seconds, issuer_milliseconds, interval = 22, 10, 400, 0.1
    timer_token_seconds, timer_look = 60, 52  # from 60 s on tokens are renewed by a timer, at 80 %

    def test_no_request_waits_for_a_token(self):
        self.begin("busy", "rare", token_seconds=1)
        daemons = [self.serve(), self.serve()]
        began = time.monotonic()
        wait_until("the tokens of the beginning are over", lambda: time.monotonic() > began + 1)
        for account, seconds in (("rare", self.timer_token_seconds), ("busy", self.token_seconds)):
            self.simulator.set(authorization_server={"token_lifetime_seconds": seconds})
            for daemon in daemons:
                self.assertEqual(self.get(daemon, account)[:2], (200, None))
        self.simulator.fault(
            "as", {"fault": "delay", "at": "before", "ms": self.issuer_milliseconds}, next="always", path="/token")
        before = self.refreshes()
        longest = self.use(daemons)
        refreshes = {account: count - before[account] for account, count in self.refreshes().items()}
        for daemon in daemons:
            records = sorted(daemon.records(2), key=lambda record: record["time"])  # each loop hands over its own
            later = records[2:]  # but the first through each route
            self.assertEqual([record["auth"] for record in later], [["cached"]] * len(later))
        if not SANITIZER:
            self.assertLessEqual(longest, self.issuer_milliseconds / 1000)
        self.assertEqual(refreshes["rare"], 1 if self.seconds > self.timer_look else 0)
        replaced = int(self.seconds / (0.8 * self.token_seconds))  # after 80 % of their life
        self.assertIn(refreshes["busy"], range(replaced - 1, replaced + 1))
        result(
            f"{self.seconds} s of requests through 2 daemons, {refreshes['busy']} refreshes of "
            f"{self.issuer_milliseconds} ms: none waited, the longest took {longest * 1000:.0f} ms")

    def use(self, daemons):
        """Seconds of the longest request."""
        longest, began, rare_is_due = 0, time.monotonic(), True
        while (now := time.monotonic() - began) < self.seconds:
            for daemon in daemons:
                status, error, seconds = self.get(daemon, "busy")
                self.assertEqual((status, error), (200, None))
                longest = max(longest, seconds)
            if rare_is_due and now >= self.timer_look:
                rare_is_due = False
                for daemon in daemons:
                    self.assertEqual(self.get(daemon, "rare")[:2], (200, None))
            time.sleep(self.interval)
        return longest


if __name__ == "__main__":
    unittest.main()
