#!/usr/bin/env python3
"""A log file that takes no more: requests go on, the loss is told at once, and counted in the log when it takes lines again."""

import json
import signal
import subprocess
import unittest

from harness import SANITIZER, Origin, Proofd, Stage, wait_until

FILE_BYTES_MAX = 16_384  # of each file the process writes; the log is the first to reach it


class FullDisk(Stage):
    def test_lost_records_are_told_and_counted(self):
        if SANITIZER == "thread":
            self.skipTest("the sanitizer's runtime needs a file that is larger")
        origin = Origin(self)
        upstream = f"http://127.0.0.1:{origin.port}/"
        proofd = Proofd(
            self, {}, {"open": {"path": "/open", "upstream": upstream}},
            under=["prlimit", f"--fsize={FILE_BYTES_MAX}:unlimited"])
        status = lambda: json.loads(proofd.verb("status", "--json").stdout)["log"]
        self.assertNotIn("failure", status())

        sent = 200
        self.assertEqual(proofd.curl(f"/open/[1-{sent}]", connections=4), {"200": sent})
        wait_until("the loss shows", lambda: status().get("failure") == "File too large")
        self.assertEqual(proofd.log.stat().st_size, FILE_BYTES_MAX)
        complaint = f"proofd: the log file {proofd.log} cannot be written: File too large; records are dropped and counted until it can\n"
        self.assertEqual(proofd.child.err.read_text(), complaint)
        self.assertRegex(
            proofd.verb("status").stdout.decode(),
            r"(?m)^the log cannot be written: File too large\nthe log lacks \d+ records$")

        subprocess.run(["prlimit", f"--pid={proofd.child.process.pid}", "--fsize=unlimited:unlimited"], check=True)
        self.assertEqual(proofd.curl("/open/behind"), {"200": 1})
        wait_until("it takes lines again", lambda: "/open/behind" in proofd.log.read_text())
        # The line that was cut in the middle is ended, and was counted as lost.
        lines = [line for line in proofd.log.read_text().splitlines() if line.endswith("}")]
        records = [json.loads(line) for line in lines]
        notices = [record for record in records if record["event"] == "log"]
        self.assertEqual(len(notices), 1)
        self.assertEqual(sum(record["event"] == "request" for record in records) + notices[0]["dropped"], sent + 1)
        self.assertEqual(status()["dropped"], notices[0]["dropped"])
        self.assertNotIn("failure", status())
        self.assertEqual(proofd.child.err.read_text(), complaint)
        self.assertEqual(proofd.child.stop(), 0)

    def test_a_file_that_cannot_be_opened_again_is_told_and_the_open_one_goes_on(self):
        origin = Origin(self)
        proofd = Proofd(self, {}, {"open": {"path": "/open", "upstream": f"http://127.0.0.1:{origin.port}/"}})
        old = proofd.log.with_suffix(".1")
        proofd.log.rename(old)
        proofd.log.mkdir()
        proofd.child.process.send_signal(signal.SIGHUP)
        told = f"proofd: cannot open the log file {proofd.log}: Is a directory; the file that is open stays in use\n"
        wait_until("it is told", lambda: proofd.child.err.read_text() == told)
        self.assertEqual(proofd.curl("/open/behind"), {"200": 1})
        wait_until("the old file goes on", lambda: "/open/behind" in old.read_text())


if __name__ == "__main__":
    unittest.main()
