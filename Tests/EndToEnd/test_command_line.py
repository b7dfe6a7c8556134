#!/usr/bin/env python3
"""The command line of the real program: what it prints where, what it ends with, and that it finds its daemon."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import time
import unittest

from harness import PROOFD, Origin, Proofd, Stage, wait_until

VERBS = [
    "serve", "check", "routes", "status", "tail", "credentials", "whoami", "token", "headers", "lock", "unlock",
]
OK, FAILED, USAGE, UNREACHABLE = 0, 1, 2, 4
SECRET = "a-secret-of-the-command-line-tests"


class WithoutDaemon(Stage):
    def setUp(self):
        super().setUp()
        self.environment = {"HOME": self.directory, "XDG_RUNTIME_DIR": self.directory, "XDG_CONFIG_HOME": self.directory}

    def proofd(self, *arguments, environment=None):
        finished = self.run_command(PROOFD, *arguments, environment=self.environment | (environment or {}))
        return finished.returncode, finished.stdout.decode(), finished.stderr.decode()

    def test_every_verb_has_help_with_an_example(self):
        code, overview, talk = self.proofd("--help")
        self.assertEqual((code, talk), (OK, ""))
        for verb in VERBS:
            self.assertRegex(overview, rf"(?m)^  {verb} +\w")
            for words in ([verb, "--help"], [verb, "-h"], ["help", verb]):
                code, text, talk = self.proofd(*words)
                self.assertEqual((code, talk), (OK, ""))
                self.assertIn(f"usage: proofd {verb}", text)
                self.assertRegex(text, rf"(?m)^examples:\n  proofd {verb}")

    def test_a_wrong_word_ends_with_2_and_names_the_nearest(self):
        for words, nearest in [
            (["sttus"], "status"), (["help", "rotes"], "routes"), (["tail", "--jsn"], "--json"),
            (["serve", "--confg", "x"], "--config"),
        ]:
            code, text, talk = self.proofd(*words)
            self.assertEqual((code, text), (USAGE, ""))
            self.assertIn(f"did you mean {nearest}?", talk)
        file = self.write("proofd.yaml", {"state": str(self.directory)})
        serve = ["serve", "--config", file]
        for words in ([], ["tail", "-n", "x"], ["tail", "-n"], [*serve, "here"], [*serve, "--listen", "0.0.0.0:1"], [*serve, "--port", "x"]):
            code, text, talk = self.proofd(*words)
            self.assertEqual((code, text), (USAGE, ""))
            self.assertNotEqual(talk, "")

    def test_the_version_is_one_line(self):
        code, text, talk = self.proofd("--version")
        self.assertEqual((code, talk), (OK, ""))
        self.assertRegex(text, r"^proofd \d+\.\d+\.\d+\n$")

    def test_status_and_tail_without_a_daemon_end_with_4(self):
        for verb in ("status", "tail"):
            for gone in ({}, {"XDG_RUNTIME_DIR": ""}):
                code, text, talk = self.proofd(verb, environment=gone)
                self.assertEqual((code, text), (UNREACHABLE, ""))
                self.assertIn("proofd serve", talk)

    def test_check_names_every_mistake_with_its_place(self):
        file = self.write("proofd.yaml", f"lisen: 1\nroutes:\n  orders:\n    path: orders\n    upstream: {SECRET}\n")
        code, text, talk = self.proofd("check", "--config", file)
        self.assertEqual((code, talk), (USAGE, ""))
        self.assertRegex(text, rf"(?m)^{file}:1:1: error: .*did you mean \"listen\"\?$")
        self.assertRegex(text, rf"(?m)^{file}:4:\d+: error: routes\.orders\.path: ")
        self.assertRegex(text, rf"(?m)^{file}:5:\d+: error: routes\.orders\.upstream: ")
        self.assertNotIn(SECRET, text)
        code, text, talk = self.proofd("check", "--json", "--config", file)
        answer = json.loads(text)
        self.assertEqual((code, talk, answer["ok"]), (USAGE, "", False))
        self.assertEqual([problem["line"] for problem in answer["problems"]], [1, 4, 5])
        code, text, talk = self.proofd("serve", "--config", file)
        self.assertEqual((code, text), (USAGE, ""))
        self.assertEqual(len(re.findall(r"(?m)^.*:\d+:\d+: error: ", talk)), 3)

    def test_routes_are_read_from_the_default_file(self):
        (self.directory / "proofd").mkdir()
        self.write("proofd/proofd.yaml", {
            "listen": ["127.0.0.1:9449", "[::1]:9450"], "state": str(self.directory),
            "credentials": {"key": {"provider": "static", "header": "X-Api-Key", "token": {"env": "PATH"}}},
            "routes": {"orders": {
                "path": "/orders", "upstream": "https://api.example.com/v1", "credential": "key", "methods": ["GET"],
            }},
        })
        self.assertEqual(self.proofd("check"), (OK, "ok: 1 route, 1 credential\n", ""))
        code, text, talk = self.proofd("routes")
        self.assertEqual((code, talk), (OK, ""))
        self.assertEqual([line.split() for line in text.splitlines()], [
            ["ROUTE", "LOCAL", "URL", "UPSTREAM", "CREDENTIAL", "FOR", "METHODS"],
            ["orders", "http://127.0.0.1:9449/orders", "https://api.example.com/v1", "key", "-", "GET"],
            ["http://[::1]:9450/orders"], ["http://orders.localhost:9449/"], ["http://orders.localhost:9450/"],
        ])
        code, text, talk = self.proofd("routes", "--json")
        self.assertEqual(json.loads(text)[0]["urls"][0], "http://127.0.0.1:9449/orders")

    def test_a_log_file_is_shown_without_what_a_terminal_obeys(self):
        hostile = '{"time":"2026-01-01T00:00:00.000Z","event":"request","status":%d,"target":"/\\u001b[2J%s"}'
        log = self.write("log", f"not json\n{hostile % (200, chr(0x9b))}\n{hostile % (404, chr(0x202e))}\n")
        for options, count in [((), 2), (("-n", "1"), 1), (("--status", "4xx"), 1), (("--json",), 2)]:
            finished = self.run_command(PROOFD, "tail", "--file", log, *options)
            self.assertEqual(finished.returncode, OK)
            lines = finished.stdout.decode().splitlines()
            self.assertEqual(len(lines), count)
            for line in lines:
                self.assertNotRegex(line, "[\x00-\x1f\x7f-\x9f\u202e]")


class WithDaemon(Stage):
    def setUp(self):
        super().setUp()
        self.origin = Origin(self)
        self.upstream = f"http://127.0.0.1:{self.origin.port}/"

    def serve(self, token=None, **settings):
        token = token or {"env": "COMMAND_LINE_SECRET"}
        return Proofd(
            self, {"key": {"provider": "static", "query": "key", "token": token}},
            {"open": {"path": "/open", "upstream": self.upstream},
             "closed": {"path": "/closed", "upstream": self.upstream, "credential": "key"}},
            environment={"COMMAND_LINE_SECRET": SECRET}, **settings)

    def follow(self, proofd, *options, name="tail"):
        child = self.start(name, [PROOFD, "tail", *options], proofd.environment)
        return child

    def test_serve_prints_one_line_and_ends_with_0(self):
        proofd = self.serve()
        self.assertEqual(proofd.child.out.read_text(), f"proofd listens on {proofd.url} (2 routes)\n")
        self.assertEqual(proofd.child.stop(), OK)
        self.assertEqual(proofd.child.out.read_text().count("\n"), 1)
        self.assertFalse(list(self.directory.rglob("control.sock")))

    def test_listen_and_port_take_the_place_of_the_file(self):
        proofd = self.serve()
        second = self.start("second", [
            PROOFD, "serve", "--config", proofd.settings, "--listen", f"unix:{self.directory}/gateway.sock",
            "--port=0",
        ], proofd.environment | {"XDG_RUNTIME_DIR": self.directory})
        second.wait_for("it listens", lambda: "listens on" in second.out.read_text())
        finished = self.run_command(
            PROOFD, "status", "--json", environment=proofd.environment | {"XDG_RUNTIME_DIR": self.directory})
        listeners = json.loads(finished.stdout)["listeners"]
        self.assertEqual(listeners[0], f"unix:{self.directory}/gateway.sock")
        self.assertRegex(listeners[1], r"^127\.0\.0\.1:[1-9]\d+$")

    def test_a_second_daemon_in_the_same_place_says_so(self):
        proofd = self.serve()
        finished = self.run_command(
            PROOFD, "serve", "--config", proofd.settings, "--port", "0", environment=proofd.environment)
        self.assertEqual((finished.returncode, finished.stdout), (FAILED, b""))
        self.assertIn(b"another proofd serves", finished.stderr)
        self.assertEqual(proofd.verb("status").returncode, OK)

    def test_a_daemon_that_was_killed_leaves_nothing_in_the_way(self):
        proofd = self.serve()
        proofd.child.stop(signal.SIGKILL)
        self.assertEqual(proofd.verb("status").returncode, UNREACHABLE)
        second = self.start("second", [PROOFD, "serve", "--config", proofd.settings], proofd.environment)
        second.wait_for("it listens", lambda: "listens on" in second.out.read_text())
        self.assertEqual(proofd.verb("status").returncode, OK)

    def test_serve_goes_on_when_nobody_reads_its_line(self):
        proofd = self.serve()
        environment = {name: str(value) for name, value in (os.environ | proofd.environment).items()}
        reader, writer = os.pipe()
        os.close(reader)
        daemon = subprocess.Popen(
            [PROOFD, "serve", "--config", proofd.settings], stdout=writer, stderr=subprocess.DEVNULL,
            env=environment | {"XDG_RUNTIME_DIR": str(self.directory)})
        os.close(writer)
        self.addCleanup(daemon.kill)
        status = lambda: self.run_command(
            PROOFD, "status", environment=proofd.environment | {"XDG_RUNTIME_DIR": self.directory}).returncode == OK
        wait_until("the daemon serves", status)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(20), OK)

    def test_the_status_says_whether_every_credential_can_serve(self):
        good = self.serve()
        finished = wait_until("ready", lambda: (f := good.verb("status")).returncode == OK and f)
        self.assertEqual(finished.stderr, b"")
        text = finished.stdout.decode()
        self.assertRegex(text, r"^proofd \S+, pid \d+, up \d+ s, 2 routes\nlistens on 127\.0\.0\.1:\d+\n")
        self.assertRegex(text, r"(?m)^key +environment +ready +- ")
        self.assertNotIn(SECRET, text)
        status = json.loads(good.verb("status", "--json").stdout)
        self.assertEqual((status["routes"], status["log"]["dropped"]), (2, 0))
        self.assertEqual([credential["can_serve"] for credential in status["credentials"]], [True])

        bad = self.serve(token={"file": str(self.directory / "nowhere")})
        state = lambda: json.loads(bad.verb("status", "--json").stdout)["credentials"][0]
        wait_until("the failure shows", lambda: state().get("last_failure"))
        finished = bad.verb("status")
        self.assertEqual(finished.returncode, FAILED)
        self.assertRegex(finished.stdout.decode(), r"(?m)^key: failed (now|\d+ s ago) \(.*nowhere")

    def test_a_secret_too_short_to_be_masked_is_not_used_and_everything_says_so(self):
        short = "sh0rt!7"
        proofd = Proofd(
            self, {"key": {"provider": "static", "token": {"env": "SHORT"}}},
            {"closed": {"path": "/closed", "upstream": self.upstream, "credential": "key"}}, {"SHORT": short})
        self.assertEqual(proofd.curl("/closed/x"), {"502": 1})
        said = r"the environment variable SHORT: it has fewer than 8 bytes"
        finished = proofd.verb("status")
        self.assertEqual(finished.returncode, FAILED)
        self.assertRegex(finished.stdout.decode(), rf"(?m)^key: failed .*: secret_too_short: {said}")
        self.assertIn("Use a secret of at least 8 bytes and start the daemon anew.", finished.stdout.decode())
        self.assertRegex(proofd.records(1, event="credential")[0]["detail"], said)
        wait_until("tail has it", lambda: b"SHORT" in proofd.verb("tail", "--no-follow").stdout)
        tail = proofd.verb("tail", "--no-follow").stdout.decode()
        self.assertRegex(tail, rf"(?m)^\S+ credential key cannot serve: secret_too_short: {said}")
        check = proofd.verb("check", "--config", proofd.settings)
        self.assertIn("fewer than 8 bytes", check.stdout.decode())
        for place in (finished.stdout, tail.encode(), proofd.log.read_bytes(), proofd.child.output().encode(), check.stdout):
            self.assertNotIn(short.encode(), place)
        self.assertEqual(self.origin.requests, [])

    def test_the_socket_is_found_in_the_state_directory(self):
        proofd = self.serve()
        home = {"HOME": str(self.directory / "home"), "XDG_RUNTIME_DIR": "", "XDG_CONFIG_HOME": ""}
        second = self.start(
            "second", [PROOFD, "serve", "--config", proofd.settings, "--port", "0"], proofd.environment | home)
        second.wait_for("it listens", lambda: "listens on" in second.out.read_text())
        self.assertEqual(
            self.run_command(PROOFD, "status", "--config", proofd.settings, environment=home).returncode, OK)
        # Nothing says where the state is: it is looked for at home.
        self.assertEqual(self.run_command(PROOFD, "status", environment=home).returncode, UNREACHABLE)

    def test_two_tails_see_every_request_and_the_end(self):
        proofd = self.serve()
        proofd.curl("/open/before")
        proofd.records(1)
        people, programs = self.follow(proofd, name="people"), self.follow(proofd, "--json", name="programs")
        for child in (people, programs):
            child.wait_for("the past", lambda: "/open/before" in child.out.read_text())
        proofd.curl("/closed/[1-50]?a=b", connections=4)
        proofd.curl("/nowhere")
        for child in (people, programs):
            wait_until("the last", lambda: "/nowhere" in child.out.read_text())
        began = time.monotonic()
        self.assertEqual(proofd.child.stop(), OK)
        for child in (people, programs):
            self.assertEqual(child.process.wait(20), OK)
            self.assertEqual(child.err.read_text(), "proofd: the daemon has stopped\n")
        self.assertLess(time.monotonic() - began, 10)

        records = [json.loads(line) for line in programs.out.read_text().splitlines()]
        requests = [record for record in records if record["event"] == "request"]
        self.assertEqual(len(requests), 52)
        self.assertEqual({record["target"] for record in requests[1:51]}, {f"/closed/{n}?a=b" for n in range(1, 51)})
        lines = [line for line in people.out.read_text().splitlines() if " GET " in line]
        self.assertEqual(len(lines), 52)
        self.assertRegex(lines[1], rf"^\d\d:\d\d:\d\d\.\d\d\dZ 200 GET +/closed/\d+\?a=b +closed → {self.upstream} +[\d.]+ ms +static$")
        self.assertRegex(lines[-1], r" 404 GET +/nowhere +- +[\d.]+ ms +no_route$")
        for child in (people, programs):
            self.assertNotIn(SECRET, child.output())

    def test_filters_and_past_records(self):
        proofd = self.serve()
        proofd.curl("/open/[1-5]")
        proofd.curl("/closed/x")
        proofd.curl("/nowhere/[1-3]")
        proofd.records(9)
        count = lambda *options: len(proofd.verb("tail", "--no-follow", *options).stdout.splitlines())
        wait_until("all are there", lambda: count() == 9)
        self.assertEqual(count("-n", "4"), 4)
        self.assertEqual(count("-n", "0"), 0)
        self.assertEqual(count("--route", "open"), 5)
        self.assertEqual(count("--credential", "key"), 1)
        self.assertEqual(count("--status", "4xx"), 3)
        self.assertEqual(count("--status", "404", "--route", "open"), 0)
        log = self.run_command(PROOFD, "tail", "--file", proofd.log, "--status", "4xx").stdout
        self.assertEqual(len(log.splitlines()), 3)

    def test_a_reader_that_leaves_ends_tail_quietly(self):
        proofd = self.serve()
        environment = {name: str(value) for name, value in (os.environ | proofd.environment).items()}
        reader, writer = os.pipe()
        tail = subprocess.Popen([PROOFD, "tail"], stdout=writer, stderr=subprocess.PIPE, env=environment)
        os.close(writer)
        proofd.curl("/open/1")
        self.assertIn(b"/open/1", os.read(reader, 4096))
        os.close(reader)
        proofd.curl("/open/2")
        self.assertEqual(tail.wait(20), OK)
        self.assertEqual(tail.stderr.read(), b"")
        tail.stderr.close()

    def test_colours_are_for_terminals_only(self):
        proofd = self.serve()
        proofd.curl("/open/1")
        proofd.records(1)
        arguments = [PROOFD, "tail", "--no-follow"]
        for more, coloured in [({"TERM": "xterm", "NO_COLOR": ""}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False)]:
            environment = {name: str(value) for name, value in (os.environ | proofd.environment | more).items()}
            main, terminal = pty.openpty()
            subprocess.run(arguments, stdout=terminal, env=environment, timeout=20, check=True)
            os.close(terminal)
            self.assertEqual(b"\x1b[32m200\x1b[0m" in os.read(main, 4096), coloured)
            os.close(main)
        self.assertNotIn(b"\x1b", proofd.verb("tail", "--no-follow").stdout)

    def test_a_tail_that_is_stopped_holds_up_nothing_and_learns_what_it_missed(self):
        proofd = self.serve()
        tail = self.follow(proofd, "--json")
        proofd.curl("/open/begin")
        tail.wait_for("the first", lambda: "/open/begin" in tail.out.read_text())
        tail.process.send_signal(signal.SIGSTOP)
        self.addCleanup(tail.process.send_signal, signal.SIGCONT)
        padding = "x" * 2000
        sent = 1500
        self.assertEqual(proofd.curl(f"/open/[1-{sent}]?{padding}", connections=8), {"200": sent})
        proofd.records(sent + 1)
        tail.process.send_signal(signal.SIGCONT)

        def seen():
            records = [json.loads(line) for line in tail.out.read_text().splitlines() if line.endswith("}")]
            dropped = sum(record.get("dropped", 0) for record in records)
            return sum(record["event"] == "request" for record in records), dropped

        wait_until("all are accounted for", lambda: sum(seen()) == sent + 1)
        self.assertGreater(seen()[1], 0)

    def test_a_daemon_that_is_stopped_is_unreachable_and_a_tail_that_has_begun_waits(self):
        proofd = self.serve()
        tail = self.follow(proofd)
        proofd.curl("/open/before")
        tail.wait_for("the first", lambda: "/open/before" in tail.out.read_text())
        proofd.child.process.send_signal(signal.SIGSTOP)
        self.addCleanup(proofd.child.process.send_signal, signal.SIGCONT)
        began = time.monotonic()
        verbs = [["status"], ["status", "--json"], ["tail"], ["tail", "--no-follow"]]
        children = [self.start(f"silent-{n}", [PROOFD, *verb], proofd.environment) for n, verb in enumerate(verbs)]
        for child in children:
            self.assertEqual(child.process.wait(30), UNREACHABLE)
            self.assertRegex(child.err.read_text(), r"^proofd: the daemon does not answer within 10 s\n  it may be stopped")
            self.assertEqual(child.out.read_text(), "")
        self.assertLess(time.monotonic() - began, 20)
        self.assertTrue(tail.running)
        proofd.child.process.send_signal(signal.SIGCONT)
        proofd.curl("/open/behind")
        tail.wait_for("the last", lambda: "/open/behind" in tail.out.read_text())
        self.assertEqual(proofd.verb("status").returncode, OK)

    def test_the_control_socket_is_for_one_user(self):
        proofd = self.serve()
        sockets = list(self.directory.rglob("control.sock"))
        self.assertEqual(len(sockets), 1)
        self.assertEqual(sockets[0].stat().st_mode & 0o777, 0o600)
        self.assertEqual(sockets[0].parent.stat().st_mode & 0o777, 0o700)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(sockets[0]))
            client.sendall(b"GET /v1/status HTTP/1.1\r\nHost: a\r\nOrigin: http://127.0.0.1\r\n\r\n")
            self.assertTrue(client.recv(4096).startswith(b"HTTP/1.1 403 "))
        self.assertEqual(proofd.verb("status").returncode, OK)


if __name__ == "__main__":
    unittest.main()
