#!/usr/bin/env python3
"""What can be wrong with the credential store: each is told on the command line, in the status, to a request and in the log,
with one thing to do; nothing is sent or lost, and when it is put right the same logins serve."""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import time
import unittest

import sealed_store
from harness import wait_until
from store_stage import CHANGE_NOTICED_SECONDS, StoreStage


class Failures(StoreStage):
    # MARK: Modes

    def opened_to_others(self, path):
        detail, next_ = f"other users may read or change {path}", f"Run chmod go= {path}."
        self.is_told(
            "store_open_to_others", detail, next_, status=502, problem="token_refused", state="store_failed")

    def test_a_state_directory_or_a_database_open_to_others(self):
        for at_start in (False, True):
            for name in ("state", "database"):
                with self.subTest(name, at_start=at_start):
                    self.serve()
                    path = getattr(self, name)
                    self.broken(at_start, lambda: path.chmod(path.stat().st_mode | 0o040))
                    self.opened_to_others(path)
                    self.run_command("chmod", "go=", path)  # as it says
                    self.serves_again()

    def broken(self, at_start, break_it):
        if at_start:
            self.stop()
        break_it()
        if at_start:
            self.start_again()

    # MARK: The key

    def test_a_key_file_that_is_lost_while_proofd_runs_is_not_missed_before_its_next_start(self):
        self.serve()
        key = self.key.read_bytes()
        self.key.unlink()
        self.serves_again()
        self.stop()
        self.start_again()
        self.request("/machine", 200)
        self.key_is_told(
            "store_key_missing", f"the key of the credential store is not at {self.key}",
            "Put the key back from a backup; without it the accounts have to be logged in anew.")
        self.assertFalse(self.key.exists())  # and no new one is made
        self.key.write_bytes(key)
        self.key.chmod(0o600)
        self.serves_again()

    def key_is_told(self, code, detail, next_):
        self.is_told(
            code, detail, next_, status=502, problem="token_refused", state="store_failed", store_wide=False)
        # What is not sealed can still be listed.
        self.assertIn("acme/cold", self.verb("credentials", "list"))
        self.assertIn(f"proofd: {detail}\n", self.verb("token", "acme/cold", code=1))
        self.assertEqual(self.verb("whoami", "acme", code=1), f"proofd: {detail}\n  {next_}\n")

    def test_key_files_that_are_no_good_at_a_start(self):
        self.serve()
        self.stop()
        key, back = self.key.read_bytes(), "Put the right key back from a backup."
        wrong = b"proofd store key 1\n" + b"A" * 43 + b"\n"
        cases = [
            (wrong, 0o600, "store_key_wrong",
             f"the key at {self.key} is not the one the credential store was sealed with", back),
            (key[:-9], 0o600, "store_key_malformed", f"{self.key} holds no key of a credential store", back),
            (b"", 0o600, "store_key_malformed", f"{self.key} holds no key of a credential store", back),
            (key, 0o640, "store_open_to_others", f"other users may read or change {self.key}",
             f"Run chmod go= {self.key}."),
        ]
        for content, mode, code, detail, next_ in cases:
            with self.subTest(code, mode=oct(mode), length=len(content)):
                self.key.write_bytes(content)
                self.key.chmod(mode)
                self.start_again()
                self.key_is_told(code, detail, next_)
                self.assertEqual(self.key.read_bytes(), content)
                if content is cases[-1][0]:
                    self.key.chmod(0o600)
                    self.serves_again()
                self.stop()

    # MARK: The database

    def test_a_store_from_the_future(self):
        for at_start in (False, True):
            with self.subTest(at_start=at_start):
                self.serve()
                with sealed_store.connect(self.database) as database:
                    [(version,)] = database.execute("PRAGMA user_version")
                self.broken(at_start, lambda: self.set_version(99))
                self.is_told(
                    "store_from_the_future",
                    f"the credential store has format 99, written by a later proofd; this one knows format {version}",
                    "Use the later proofd, or another state directory.", status=502, problem="token_refused",
                    state="store_failed")
                self.set_version(version)
                self.serves_again()

    def set_version(self, version):
        with sealed_store.connect(self.database) as database:
            database.execute(f"PRAGMA user_version = {version}")

    def move_store(self, to):
        to.mkdir(mode=0o700, exist_ok=True)
        for path in self.state.glob("credentials.sqlite*"):
            path.rename(to / path.name)

    def test_a_file_that_is_no_database(self):
        for at_start in (False, True):
            with self.subTest(at_start=at_start):
                self.serve()
                self.broken(at_start, self.put_text_in_place)
                self.is_told(
                    "not_a_store", f"{self.database} is no credential store",
                    "Move the file away, or name another state directory.", status=502, problem="token_refused",
                    state="store_failed")
                self.assertEqual(self.database.read_text(), "no database\n" * 1000)
                self.put_back()
                self.serves_again()

    def put_text_in_place(self):
        self.move_store(self.home / "away")
        self.database.write_text("no database\n" * 1000)
        self.database.chmod(0o600)

    def put_back(self):
        for path in self.state.glob("credentials.sqlite*"):
            path.unlink()
        for path in (self.home / "away").iterdir():
            path.rename(self.state / path.name)

    def test_a_database_that_another_process_keeps_locked(self):
        self.serve()
        with contextlib.closing(sqlite3.connect(self.database, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            began = time.monotonic()
            self.is_told(
                "store_busy", f"another process keeps {self.database} locked", "See which process it is.", status=503,
                problem="token_unavailable", state="unavailable", store_wide=False)
            self.assertGreater(time.monotonic() - began, 5)
            self.assertIn("acme/cold", self.verb("credentials", "list"))  # reading goes on
            self.request("/acme", 200)
            self.assertEqual(
                self.verb("credentials", "tag", "acme/cold", "--add", "x", code=1),
                f"proofd: another process keeps {self.database} locked\n  See which process it is.\n")
            other.execute("ROLLBACK")
            self.serves_again()

    def test_a_database_that_is_locked_for_a_moment_only_makes_a_request_wait(self):
        self.serve()
        with contextlib.closing(sqlite3.connect(self.database, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            waiting = self.send("/acme/cold")
            time.sleep(1)
            self.assertIsNone(waiting.poll())
            self.assertEqual(self.refreshes["acme/cold"], 0)
            other.execute("ROLLBACK")
        self.assertEqual(waiting.communicate(timeout=20)[0], b"200")
        self.serves_again()

    def send(self, path):
        """A request under way; prints its status."""
        return subprocess.Popen(
            ["curl", "--silent", "--noproxy", "*", "--output", "/dev/null", "--write-out", "%{http_code}",
             f"{self.proofd.url}{path}/echo"], stdout=subprocess.PIPE)

    # MARK: What is gone or another

    def test_a_state_directory_that_is_missing(self):
        for at_start in (False, True):
            with self.subTest(at_start=at_start):
                self.serve()
                self.broken(at_start, lambda: self.state.rename(self.home / "gone"))
                found = self.request("/acme/cold", 511)
                self.assertEqual((found["code"], found["detail"]), ("login_required", "there is no account acme/cold"))
                account = wait_until(
                    "the status tells", lambda: (seen := self.account("acme"))["state"] == "login_required" and seen,
                    CHANGE_NOTICED_SECONDS)
                self.assertEqual(account["next"], "Give it a grant with proofd credentials import acme.")
                self.verb("status", code=3)
                self.request("/machine", 200)
                self.assertFalse(self.database.exists())  # looking makes nothing
                if self.state.exists():
                    shutil.rmtree(self.state)
                (self.home / "gone").rename(self.state)
                self.serves_again()

    def test_a_store_that_is_replaced_while_proofd_runs(self):
        self.serve()
        copy = self.home / "copy.sqlite"
        self.verb("credentials", "remove", "acme/cold", "--yes")
        with sealed_store.connect(self.database) as database, contextlib.closing(sqlite3.connect(copy)) as target:
            database.backup(target)
        self.stop()
        self.start_again()
        self.grants["acme/cold"] = self.import_("acme/cold")
        self.move_store(self.home / "away")
        copy.chmod(0o600)
        copy.rename(self.database)
        self.assertEqual(self.request("/acme/cold", 511)["detail"], "there is no account acme/cold")
        self.request("/acme", 200)
        self.assertNotIn("acme/cold", self.verb("credentials", "list"))
        self.put_back()
        self.serves_again()

    # MARK: The disk

    def mounted(self, options):
        """A state directory with a disk of its own, which is full or read-only when the test wants it so."""
        if os.geteuid() != 0:
            self.skipTest("mounting takes root")
        self.disk = self.directory / "disk"
        self.disk.mkdir(mode=0o700, exist_ok=True)
        self.mount(options)
        self.addCleanup(subprocess.run, ["umount", "--lazy", str(self.disk)], check=True)
        self.serve(state=self.disk)

    def mount(self, options):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(self.disk)], check=True)

    def fill(self):
        with pathlib.Path(self.disk, "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(4096))

    def test_a_disk_that_is_full_before_a_refresh(self):
        self.mounted("size=2m,mode=0700")
        self.fill()
        self.is_told(
            "disk_full", f"there is no room left on the disk of {self.database}", "Make room; nothing was lost.",
            status=503, problem="token_unavailable", state="unavailable", store_wide=False)
        self.request("/acme", 200)
        self.assertEqual(
            self.verb("credentials", "tag", "acme/cold", "--add", "x", code=1),
            f"proofd: there is no room left on the disk of {self.database}\n  Make room; nothing was lost.\n")
        self.disk.joinpath("filler").unlink()
        self.serves_again()

    def test_a_disk_that_fills_up_during_a_refresh_costs_nothing(self):
        self.mounted("size=2m,mode=0700")
        self.simulator.fault("as", {"fault": "hold", "at": "after", "gate": "answer"}, path="/token")
        waiting = self.send("/acme/cold")
        wait_until("the refresh is judged", lambda: self.simulator.waiting("answer") == 1)
        self.fill()
        self.simulator.ask("POST", "/gates/answer/open")
        self.assertEqual(waiting.communicate(timeout=20)[0], b"503")
        self.assertEqual(self.refreshes["acme/cold"], 1)
        for _ in range(3):  # it is asked again and again, and sends nothing more
            found = self.request("/acme/cold", 503)
            self.assertEqual(found["detail"], f"there is no room left on the disk of {self.database}")
            time.sleep(1)
        self.assertEqual(self.refreshes["acme/cold"], 1)
        self.disk.joinpath("filler").unlink()
        self.serves_again(refreshes=1)
        # What was kept in memory is what the next process finds.
        self.stop()
        secrets = sealed_store.secrets(self.database, sealed_store.key_of_file(self.key))
        self.assertIn("acme/cold previous_refresh_token", secrets)
        self.start_again()
        self.request("/acme/cold", 200)
        self.assertEqual(self.refreshes, {"acme/": 1, "acme/cold": 1, "acme/spare": 1})

    def test_a_state_directory_on_a_disk_that_is_read_only(self):
        self.mounted("size=2m,mode=0700")
        self.stop()  # no disk is made read-only while somebody writes to it
        self.mount("remount,ro")
        self.start_again()
        # SQLite may still read it, if it has its files beside it; then it is the lease that is in vain.
        detail = self.request("/acme/cold", 503)["detail"]
        self.assertRegex(detail, rf"^{self.disk}/(credentials\.sqlite|leases\S*) can't be written$")
        self.is_told(
            "store_read_only", detail, "Make it writable for this user; nothing was lost.",
            status=503, problem="token_unavailable", state="unavailable", store_wide=False)
        self.mount("remount,rw")
        self.serves_again()


if __name__ == "__main__":
    unittest.main()
