#!/usr/bin/env python3
"""Sends every secret the suite has through every part of proofd, then looks for each in all that proofd ever said."""

import base64
import json
import socket
import unittest
import urllib.parse

from harness import PROOFD, Origin, Proofd, Simulator, Stage, receive_all, result, wait_until

BEARER = "sentinel-bearer-2f9a8c"
PASSWORD = "sentinel-password-71bd0e"
FIELD = "sentinel-field-c44e19"
QUERY = "sentinel-query-90aa3d"
FROM_FILE = "sentinel-file-5be7f2"
FROM_COMMAND = "sentinel-command-e81c06"
WRONG = "sentinel-wrong-08d4b1"
CALLER = "sentinel-caller-3d7702"  # what a caller brings itself
CLIENTS = ("svc", "svc-post", "svc-scope")
HELD = [BEARER, PASSWORD, FIELD, QUERY, FROM_FILE, FROM_COMMAND]


class Sentinel(Stage):
    def setUp(self):
        super().setUp()
        self.simulator = Simulator(self, nonces="rotate", token_seconds=3)
        self.simulator.set(authorization_server={"nonce": {"previous_accepted": 8}})  # three clients ask it at once
        self.origin = Origin(self)
        upstream = f"http://127.0.0.1:{self.origin.port}/"
        secret_file = self.write("secret", FROM_FILE + "\n")
        credentials = {
            "svc": self.simulator.credential(),
            "svc-post": self.simulator.credential(client_auth="post"),
            "svc-scope": self.simulator.credential(scope="orders:read"),
            "wrong": self.simulator.credential(client_secret={"env": "WRONG_SECRET"}),
            "bearer": {"provider": "static", "token": {"env": "BEARER"}},
            "basic": {"provider": "static", "scheme": "Basic", "username": "reader", "password": {"env": "PASSWORD"}},
            "header": {"provider": "static", "header": "X-Api-Key", "token": {"env": "FIELD"}},
            "query": {"provider": "static", "query": "key", "token": {"env": "QUERY"}},
            "file": {"provider": "static", "token": {"file": str(secret_file)}},
            "command": {"provider": "static", "token": {"command": ["echo", FROM_COMMAND]}},
        }
        self.proofd = Proofd(
            self, credentials,
            {
                name: {
                    "path": f"/{name}", "credential": name,
                    "upstream": self.simulator.api if name in (*CLIENTS, "wrong") else upstream,
                }
                for name in credentials
            } | {"unreachable": {"path": "/unreachable", "upstream": "http://127.0.0.1:1/", "credential": "bearer"}},
            self.simulator.environment | {
                "BEARER": BEARER, "PASSWORD": PASSWORD, "FIELD": FIELD, "QUERY": QUERY, "WRONG_SECRET": WRONG,
            },
        )
        self.tail = self.start("tail", [PROOFD, "tail"], self.proofd.environment)
        self.answers = b""

    def curl(self, target, *arguments):
        url = self.proofd.url + target
        finished = self.run_command("curl", "--silent", "--include", "--noproxy", "*", *arguments, url)
        self.answers += finished.stdout

    def test_no_secret_shows_anywhere(self):
        self.exercise()
        secrets = self.secrets()
        self.assertGreater(len(secrets), 60)
        places = self.places()
        for name in ("requests.log", "tail.out", "answers", "status --json"):
            self.assertGreater(len(places[name]), 200, f"{name} has too little in it to mean anything")
        for place, content in places.items():
            for secret in secrets:
                self.assertNotIn(secret.encode(), content, f"{secret} is in {place}")
        searched = sum(len(content) for content in places.values())
        result(f"{len(secrets)} secrets, {searched} bytes in {len(places)} places: none found")

    def exercise(self):
        caller = ["--header", f"Authorization: Bearer {CALLER}", "--header", f"Cookie: session={CALLER}"]
        for route in CLIENTS:
            for number in range(10):
                self.curl(f"/{route}/upload?access_token={CALLER}&n={number}", "--data", f"password={CALLER}", *caller)
            self.curl(f"/{route}/status/500", *caller)
            self.curl(f"/{route}/status/302?location=https://elsewhere.example/")
        for route in ("bearer", "basic", "header", "query", "file", "command", "unreachable"):
            self.curl(f"/{route}/bytes/100?client_secret={CALLER}&token={CALLER}#fragment", *caller)
        self.curl("/wrong/upload", *caller)

        # Servers that repeat what they were told, or say something else.
        leak = {"error": "invalid_request", "error_description": f"{self.simulator.client_secret} is no good"}
        for answer in (
            {"status": 400, "body": json.dumps(leak)},
            {"status": 500, "body": f"<html>{self.simulator.client_secret}"},
            {"status": 200, "body": f'{{"access_token": "{self.simulator.client_secret}'},
        ):
            self.simulator.fault("as", {"fault": "answer"} | answer, path="/token")
        self.simulator.ask("POST", "/tokens/revoke")
        self.simulator.ask("POST", "/nonces/expire")
        for route in CLIENTS * 2:
            self.curl(f"/{route}/upload", *caller)

        # Broken and refused requests.
        for request in (
            f"GET /svc/x HTTP/1.1\r\nHost: {CALLER}\r\nAuthorization: Bearer {CALLER}\r\nConnection: close\r\n\r\n",
            f"GET /svc/{CALLER} x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            f"GET /nowhere?token={CALLER} HTTP/1.1\r\nHost: 127.0.0.1:{self.proofd.port}\r\nConnection: close\r\n\r\n",
            f"{CALLER}\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", self.proofd.port), timeout=10) as client:
                client.sendall(request.encode())
                self.answers += receive_all(client)

        # From now on the issuer takes the client's secret for an error code: the status keeps the last failure.
        echo = {"fault": "answer", "status": 400, "body": json.dumps({"error": self.simulator.client_secret})}
        self.simulator.fault("as", echo, next="always", path="/token")
        self.simulator.ask("POST", "/tokens/revoke")
        asked = self.simulator.token_requests
        wait_until("the issuer has said so to a client", lambda: self.is_asked_again(asked))

    def is_asked_again(self, asked):
        for route in CLIENTS:
            self.curl(f"/{route}/upload")
        return self.simulator.token_requests > asked + 1

    def secrets(self):
        """All of them, in the forms in which they travel; and each was really sent."""
        basic = base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
        heads = self.origin.heads
        for secret in (BEARER, basic, FIELD, QUERY, FROM_FILE, FROM_COMMAND):
            self.assertIn(secret, heads)
        received = self.simulator.secrets()
        client_id, client_secret = self.simulator.client_id, self.simulator.client_secret
        self.assertIn(base64.b64encode(f"{client_id}:{client_secret}".encode()).decode(), received)
        self.assertTrue(any(value.count(".") == 2 for value in received), "no proof in the journal")
        plain = {*HELD, CALLER, basic, client_secret, WRONG} | received
        return plain | {urllib.parse.quote(secret, safe="") for secret in plain}

    def places(self):
        count = len(self.proofd.records(30))
        wait_until("tail has shown the last request", lambda: self.tail.out.read_bytes().count(b"\n") >= count)
        places = {"answers": self.answers}
        for verb in (["status"], ["status", "--json"], ["routes"], ["check"], ["tail", "--no-follow", "-n", "1000", "--json"]):
            finished = self.proofd.verb(*verb, "--config", self.proofd.settings)
            places[" ".join(verb)] = finished.stdout + finished.stderr
        self.tail.stop()
        self.proofd.child.stop()
        said = [self.proofd.log, self.tail.out, self.tail.err, self.proofd.child.out, self.proofd.child.err]
        return places | {path.name: path.read_bytes() for path in said}


if __name__ == "__main__":
    unittest.main()
