#!/usr/bin/env python3
"""proofd starts, says what is wrong with its configuration, does not share its port, and drains before it ends."""

import collections
import os
import pathlib
import re
import signal
import socket
import time
import unittest

from harness import PROOFD, Origin, Proofd, Stage, listens, receive_all, wait_until
from wire import Wire

BROKEN = """\
listen: 127.0.0.1:99999
lisen: 127.0.0.1:9449
credentials:
  svc:
    provider: oidc
    grant: client_credentials
    client_secret: short
routes:
  orders:
    path: orders
    upstream: ftp://api.example.com/
    credential: nobody
  stock:
    path: /stock
    upstream: https://api.example.com/
    methods: GET HEAD
"""


class Lifecycle(Stage):
    def test_sigterm_finishes_what_is_in_flight_and_exits_0(self):
        origin = Origin(self)
        proofd = Proofd(self, {}, {"open": {"path": "/open", "upstream": f"http://127.0.0.1:{origin.port}/"}})
        with socket.create_connection(("127.0.0.1", proofd.port), timeout=10) as client:
            head = f"PUT /open/late HTTP/1.1\r\nHost: 127.0.0.1:{proofd.port}\r\nContent-Length: 10\r\n\r\n"
            client.sendall(head.encode() + b"first")
            wait_until("proofd has a connection to the origin", lambda: origin.connections > 0)
            proofd.child.process.send_signal(signal.SIGTERM)
            wait_until("proofd takes no more connections", lambda: not listens(proofd.port))
            client.sendall(b"later")
            answer = receive_all(client)
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 "), answer)
        self.assertIn(b'"target": "/late"', answer)
        self.assertEqual(proofd.child.process.wait(10), 0)
        self.assertEqual([record["status"] for record in proofd.records(1)], [200])

    def test_standard_descriptors_that_are_closed_are_the_null_device(self):
        origin = Origin(self)
        proofd = Proofd(
            self, {}, {"open": {"path": "/open", "upstream": f"http://127.0.0.1:{origin.port}/"}},
            under=["sh", "-c", 'exec "$@" <&- 2>&-', "sh"],
        )
        self.assertEqual(proofd.curl("/open/x"), {"200": 1})
        for number in (0, 2):
            self.assertEqual(os.readlink(f"/proc/{proofd.child.process.pid}/fd/{number}"), "/dev/null")

    def test_what_arrives_while_the_machine_sleeps_is_served(self):
        origin = Origin(self)
        proofd = Proofd(
            self, {}, {"open": {"path": "/open", "upstream": f"http://127.0.0.1:{origin.port}/"}},
            timeouts={"idle": "1s", "head": "1s"},
        )
        clients = [Wire(proofd.port) for _ in range(200)]
        for client in clients:
            self.addCleanup(client.socket.close)
        proofd.child.process.send_signal(signal.SIGSTOP)
        for client in clients:
            client.send(client.head("GET", "/open/x"))
        time.sleep(1.5)  # longer than an idle connection is kept
        proofd.child.process.send_signal(signal.SIGCONT)
        statuses = [answer and answer.status for answer in map(Wire.answer, clients)]
        self.assertEqual(collections.Counter(statuses), {200: len(clients)})

    def test_a_second_instance_on_the_same_port_says_so(self):
        routes = {"open": {"path": "/open", "upstream": "http://127.0.0.1:9/"}}
        proofd = Proofd(self, {}, routes)
        settings = self.write("second.yaml", {"listen": f"127.0.0.1:{proofd.port}", "routes": routes})
        runtime = self.directory / "second"
        runtime.mkdir(mode=0o700)
        second = self.run_command(PROOFD, "serve", "--config", settings, environment={"XDG_RUNTIME_DIR": runtime})
        self.assertEqual(second.returncode, 1)
        self.assertIn(f"127.0.0.1:{proofd.port}", second.stderr.decode())
        self.assertIn("in use", second.stderr.decode())
        self.assertTrue(proofd.child.running)

    def test_a_broken_configuration_names_every_mistake_and_exits_2(self):
        settings = self.write("broken.yaml", BROKEN)
        for verb in ("check", "serve"):
            with self.subTest(verb):
                finished = self.run_command(PROOFD, verb, "--config", settings)
                said = (finished.stdout + finished.stderr).decode()
                self.assertEqual(finished.returncode, 2, said)
                for line in (1, 2, 7, 10, 11, 12, 16):
                    self.assertIn(f"broken.yaml:{line}:", said)
                for key in ("credentials.svc.client_secret", "routes.orders.upstream", "routes.stock.methods"):
                    self.assertIn(key, said)
                self.assertRegex(said, "lisen.*listen")  # the nearest known key

    def test_what_the_documents_show_is_accepted(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        blocks = re.findall(r"```yaml\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
        self.assertTrue(blocks)
        files = [self.write(f"readme-{number}.yaml", block) for number, block in enumerate(blocks)]
        for file in [*files, root / "Examples/QuickStart/proofd.yaml"]:
            with self.subTest(file.name):
                secrets = {"SVC_SECRET": "service-secret", "SAMPLE_SECRET": "sample-secret"}
                checked = self.run_command(PROOFD, "check", "--config", file, environment=secrets)
                self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_usage_errors_exit_2(self):
        for arguments in (["nonsense"], ["serve", "--nonsense"], ["serve", "--port"]):
            with self.subTest(arguments):
                self.assertEqual(self.run_command(PROOFD, *arguments).returncode, 2)

    def test_verbs_that_need_the_daemon_exit_4_without_one(self):
        for verb in ("status", "tail"):
            with self.subTest(verb):
                finished = self.run_command(PROOFD, verb, environment={"XDG_RUNTIME_DIR": self.directory})
                self.assertEqual(finished.returncode, 4)


if __name__ == "__main__":
    unittest.main()
