#!/usr/bin/env python3
"""One credential store in the hands of several processes: changes at the same time, kill -9 within a write, leases, a full
disk and a state directory that cannot be written."""

import os
import pathlib
import signal
import subprocess
import unittest

from harness import PROOFD, SANITIZER, Stage

PROBE = pathlib.Path(PROOFD).with_name("StoreProbe")
SENTINEL = b"sentinel-51e07c"  # every secret that the probe stores starts so
NOBODY = 65534


class Store(Stage):
    def setUp(self):
        super().setUp()
        self.state, self.key = self.directory / "state", self.directory / "config" / "store.key"
        self.program = PROBE

    def command(self, *words, under=()):
        return [*under, str(self.program), str(self.state), str(self.key), *words]

    def probe(self, *words, under=(), code=0):
        """What the probe prints, without its last line end."""
        done = subprocess.run(self.command(*words, under=under), capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.stdout.decode().rstrip("\n")

    def test_processes_that_change_one_grant_lose_no_change(self):
        grant = self.probe("insert", "work")
        turns = 25
        children = [
            subprocess.Popen(self.command("rotate", grant, str(turns)), stdout=subprocess.DEVNULL) for _ in range(4)]
        self.assertEqual([child.wait(timeout=120) for child in children], [0] * len(children))
        self.assertEqual(self.probe("records"), f"work {turns * len(children)}")

    def test_processes_that_start_together_make_one_store(self):
        children = [
            subprocess.Popen(self.command("insert", f"a{index}"), stdout=subprocess.DEVNULL) for index in range(8)]
        self.assertEqual([child.wait(timeout=120) for child in children], [0] * len(children))
        self.assertEqual(self.probe("records").split("\n"), [f"a{index} 0" for index in range(8)])
        self.assertEqual([path.name for path in self.key.parent.iterdir()], [self.key.name])

    def test_a_write_that_is_killed_is_whole_or_was_never_there(self):
        grant = self.probe("insert", "work")
        for round_ in range(5):
            self.probe("die", "uncommitted", grant, code=-signal.SIGKILL)
            self.assertEqual(self.probe("records"), f"work {round_}")
            self.probe("die", "committed", grant, code=-signal.SIGKILL)
            self.assertEqual(self.probe("records"), f"work {round_ + 1}")

    def test_a_lease_ends_with_its_holder(self):
        grant = self.probe("insert", "work")
        for ending in (lambda child: child.kill(), lambda child: child.stdin.close()):
            holder = subprocess.Popen(self.command("lease", grant), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.addCleanup(holder.stdout.close)
            self.assertEqual(holder.stdout.readline(), b"taken\n")
            self.assertEqual(self.probe("lease", grant), "busy")
            ending(holder)
            holder.wait(timeout=20)
            holder.stdin.close()
            self.assertEqual(self.probe("lease", grant), "taken")

    def test_files_that_may_grow_no_more(self):
        if SANITIZER:
            self.skipTest("the sanitizers' runtimes need files that are larger")
        self.fills(lambda: ["prlimit", "--fsize=131072:unlimited"], lambda: None)

    def test_a_full_disk(self):
        self.mount("size=384k,mode=0700")
        self.fills(lambda: [], lambda: self.mount("remount,size=16m"))

    def fills(self, under, make_room):
        self.probe("insert", "work")
        refused, count = self.probe("fill", under=under()).split("\n")
        self.assertEqual(refused, "refused disk_full")
        self.assertGreater(int(count), 5)
        # All that was stored is there, and opens, while there is still no room.
        self.assertEqual(len(self.probe("records", under=under()).split("\n")), int(count) + 1)
        make_room()
        self.probe("insert", "one-more")
        self.assertEqual(len(self.probe("records").split("\n")), int(count) + 2)
        self.nothing_shows()

    def test_a_disk_that_is_read_only(self):
        self.mount("size=4m,mode=0700")
        grant = self.probe("insert", "work")
        self.mount("remount,ro")
        for words in (("insert", "new"), ("rotate", grant, "1"), ("lease", grant)):
            self.assertEqual(self.probe(*words, code=1), "refused store_read_only", words)
        self.mount("remount,rw")
        self.probe("rotate", grant, "1")
        self.assertEqual(self.probe("records"), "work 1")

    def test_a_directory_that_cannot_be_written(self):
        under = []
        if os.geteuid() == 0:  # root may write everywhere; another user runs a copy he can reach
            under = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
            self.directory.chmod(0o755)
            self.program = self.directory / "StoreProbe"
            self.program.write_bytes(PROBE.read_bytes())
            self.program.chmod(0o755)
        for folder in (self.state, self.key.parent):
            folder.mkdir(mode=0o700)
            if under:
                os.chown(folder, NOBODY, NOBODY)
        grant = self.probe("insert", "work", under=under)
        self.state.chmod(0o500)
        for words in (("insert", "new"), ("rotate", grant, "1")):
            self.assertEqual(self.probe(*words, under=under, code=1), "refused store_read_only", words)
        self.state.chmod(0o700)
        self.probe("rotate", grant, "1", under=under)
        self.assertEqual(self.probe("records", under=under), "work 1")

    def mount(self, options):
        if os.geteuid() != 0:
            self.skipTest("mounting takes root")
        self.state.mkdir(mode=0o700, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(self.state)], check=True)
        if not options.startswith("remount"):
            self.addCleanup(subprocess.run, ["umount", "--lazy", str(self.state)], check=True)

    def nothing_shows(self):
        for path in self.state.rglob("*"):
            if path.is_file():
                self.assertNotIn(SENTINEL, path.read_bytes(), path)


if __name__ == "__main__":
    unittest.main()
