"""What the system shows of a running proofd to other processes of the same user: nothing it holds."""

import pathlib
import re
import subprocess
import unittest

from harness import Origin, Proofd, Stage, may_look_into_others

SECRET = "environment-secret-5d1c02aa"
# Root without capabilities is a user like any other to /proc, if both sides are.
ORDINARY = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if may_look_into_others() else []


def look(pid, command, *names):
    """What an ordinary process of the user sees of another."""
    files = [f"/proc/{pid}/{name}" for name in names]
    return subprocess.run([*ORDINARY, command, *files], capture_output=True, timeout=10, check=False)


class Secrecy(Stage):
    def serve(self, **more):
        origin = Origin(self)
        return Proofd(
            self, {"key": {"provider": "static", "token": {"env": "SOME_TOKEN"}}},
            {"open": {"path": "/open", "upstream": f"http://127.0.0.1:{origin.port}/", "credential": "key"}},
            environment={"SOME_TOKEN": SECRET, "PROOFD_INSPECTABLE": ""} | more, under=ORDINARY,
        )

    def test_no_process_of_the_same_user_reads_the_environment_or_the_memory(self):
        proofd = self.serve()
        pid = proofd.child.process.pid
        self.assertEqual(proofd.curl("/open/x"), {"200": 1})  # and the user of the caller is known as before
        for name in ("environ", "mem", "maps", "auxv"):
            finished = look(pid, "cat", name)
            self.assertNotEqual(finished.returncode, 0, name)
            self.assertEqual(finished.stdout, b"", name)
        self.assertEqual(look(pid, "readlink", "fd/0", "exe", "cwd").stdout, b"")
        # What people and monitors look at stays.
        self.assertEqual(look(pid, "cat", "status", "stat", "cmdline").returncode, 0)

    def test_what_refuses_would_have_been_read_otherwise(self):
        proofd = self.serve(PROOFD_INSPECTABLE="1")
        finished = look(proofd.child.process.pid, "cat", "environ")
        self.assertIn(SECRET.encode(), finished.stdout)
        self.assertIn("PROOFD_INSPECTABLE", proofd.child.err.read_text())

    def test_core_files_are_off_for_good(self):
        for inspectable in ("", "1"):
            proofd = self.serve(PROOFD_INSPECTABLE=inspectable)
            limits = pathlib.Path(f"/proc/{proofd.child.process.pid}/limits").read_text()
            self.assertRegex(limits, re.compile(r"^Max core file size +0 +0 ", re.MULTILINE))


if __name__ == "__main__":
    unittest.main()
