#!/usr/bin/env python3
"""Clocks that jump and machines that sleep: no expired token is sent, and no jump makes more than one refresh of a grant."""

import base64
import json
import pathlib
import struct
import subprocess
import time
import unittest

from harness import SANITIZER, result, wait_until
from stored_accounts import StoredAccounts

DAY, NIGHT, TOKEN_SECONDS = 86_400, 8 * 3_600, 300
LIBRARY = pathlib.Path(__file__).parents[1] / "moved_clocks.c"
ACCOUNTS = [f"a{number}" for number in range(20)]
ROUNDS = 5


def expiry(entry):
    """Unix seconds by the servers' clock at which the token of a request ends."""
    token = next(value for name, value in entry["fields"] if name.lower() == "authorization").rpartition(" ")[2]
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["exp"]


@unittest.skipIf(SANITIZER, "the sanitizers' runtimes want to be the first library of a program")
class Clocks(StoredAccounts):
    requests = 0

    def setUp(self):
        super().setUp()
        library = self.directory / "moved_clocks.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, LIBRARY], check=True)
        self.moves = self.directory / "moves"
        self.wall = self.boot = self.servers = 0
        self.move()
        self.moved = {"LD_PRELOAD": library, "MOVED_CLOCKS": self.moves}
        self.begin(*ACCOUNTS, token_seconds=TOKEN_SECONDS)
        self.proofd = self.serve(self.moved)
        self.assertEqual(self.get_all(self.proofd), {})
        self.assert_refreshed(1)

    def move(self, wall=0, boot=0):
        """Lets clocks jump, by seconds."""
        self.wall += wall
        self.boot += boot
        with self.moves.open("r+b" if self.moves.exists() else "wb") as file:
            file.write(struct.pack("=qq", self.wall * 10**9, self.boot * 10**9))

    def move_servers(self, seconds):
        self.servers += seconds
        offset = {"clock_offset_seconds": self.servers}
        self.simulator.set(authorization_server=offset, api=offset)

    def assert_refreshed(self, times):
        self.assertEqual(self.refreshes(), dict.fromkeys(self.accounts, times))

    def assert_serves(self, refreshes, proofs_refused=0):
        """Many requests: all succeed, none carries an expired token, and each grant has been refreshed so often in all.

        proofs_refused: how many may be refused for the time their proof was made at, until the server's clock is known.
        """
        self.simulator.forget()
        if proofs_refused:
            self.assertLessEqual(len(self.get_all(self.proofd)), proofs_refused)
            wait_until("the servers' clocks are known", lambda: not self.get_all(self.proofd))
        everybody = f"/a[0-{len(ACCOUNTS) - 1}]/echo?[1-{ROUNDS}]"
        self.assertEqual(self.proofd.curl(everybody, connections=len(ACCOUNTS)), {"200": len(ACCOUNTS) * ROUNDS})
        journal = self.simulator.journal()
        for entry in journal:
            if entry["role"] == "api":
                self.assertGreater(expiry(entry), entry["received_at_ms"] / 1000 + self.servers)
        refused = [entry["verdict"] for entry in journal if entry["verdict"] != "accepted"]
        self.assertEqual(refused, ["proof_iat"] * len(refused))
        self.assertLessEqual(len(refused), proofs_refused)
        self.assert_refreshed(refreshes)
        Clocks.requests += self.simulator.count("api")

    @classmethod
    def tearDownClass(cls):
        result(f"{cls.requests} requests after clocks had jumped: no expired token was sent")

    def restart(self):
        self.assertEqual(self.proofd.child.stop(), 0)
        self.proofd = self.serve(self.moved)

    def test_the_clocks_are_moved(self):
        """The other tests mean nothing otherwise."""
        self.move(wall=-DAY)
        yesterday = time.strftime("%Y-%m-%d", time.gmtime(time.time() - DAY))

        def shows():
            self.get(self.proofd, "nowhere")
            return any(record["time"].startswith(yesterday) for record in self.proofd.records())

        wait_until("the log has the moved clock", shows)

    def pass_time(self, seconds):
        """Lets time go by, for everybody."""
        self.move(wall=seconds, boot=seconds)
        self.move_servers(seconds)

    # Everybody's clock is set: the server's is the same machine's, or all were wrong.

    def test_all_clocks_jump_a_day_ahead(self):
        self.move(wall=DAY)
        self.move_servers(DAY)
        self.assert_serves(refreshes=2)
        self.restart()
        self.assert_serves(refreshes=2)

    def test_all_clocks_jump_a_day_back(self):
        self.move(wall=-DAY)
        self.move_servers(-DAY)
        self.assert_serves(refreshes=1)
        self.restart()
        self.assert_serves(refreshes=1)
        self.pass_time(TOKEN_SECONDS + 1)  # by the wall clock the tokens are not even issued yet
        self.assert_serves(refreshes=2)

    # Only this machine's clock is set: each server, the authorization server and the API, refuses one proof.

    def test_our_clock_jumps_a_day_ahead_and_back(self):
        self.move(wall=DAY)
        self.assert_serves(refreshes=2, proofs_refused=2)
        self.restart()
        self.assert_serves(refreshes=2, proofs_refused=2)
        self.move(wall=-DAY)
        self.assert_serves(refreshes=2, proofs_refused=2)

    def test_our_clock_jumps_a_day_back_and_ahead(self):
        self.move(wall=-DAY)
        self.assert_serves(refreshes=1, proofs_refused=2)
        self.pass_time(TOKEN_SECONDS + 1)
        self.assert_serves(refreshes=2, proofs_refused=2)
        self.restart()
        self.assert_serves(refreshes=2, proofs_refused=2)
        self.move(wall=DAY)
        self.assert_serves(refreshes=3, proofs_refused=2)

    # The machine sleeps.

    def test_a_night_asleep(self):
        self.pass_time(NIGHT)
        self.assert_serves(refreshes=2)
        self.restart()
        self.assert_serves(refreshes=2)

    def test_a_night_asleep_with_a_wall_clock_that_stood_still(self):
        self.move(boot=NIGHT)
        self.move_servers(NIGHT)
        self.assert_serves(refreshes=2, proofs_refused=2)

    def test_a_night_asleep_with_a_boot_clock_that_stood_still(self):
        """A virtual machine that was paused."""
        self.move(wall=NIGHT)
        self.move_servers(NIGHT)
        self.assert_serves(refreshes=2)


if __name__ == "__main__":
    unittest.main()
