#!/usr/bin/env python3
"""What proofd answers itself: broken requests, callers that may not, and places it does not serve."""

import os
import socket
import unittest

from harness import Origin, Proofd, Stage, receive_all

GOOD = b"GET /open/x HTTP/1.1\r\nHost: {host}\r\n"
BROKEN = {
    "not HTTP": b"GARBAGE\r\n\r\n",
    "a TLS handshake": bytes.fromhex("16030100c4010000c00303") + bytes(185),
    "bare line feeds": b"GET /open/x HTTP/1.1\nHost: {host}\n\n",
    "a bare carriage return": GOOD + b"X: a\rb\r\n\r\n",
    "no Host": b"GET /open/x HTTP/1.1\r\n\r\n",
    "two Hosts": GOOD + b"Host: {host}\r\n\r\n",
    "a space in the target": b"GET /open/x y HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a control character in the target": b"GET /open/\x01 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a relative target": b"GET open/x HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a space before the colon": GOOD + b"X : a\r\n\r\n",
    "a folded line": GOOD + b"X: a\r\n b\r\n\r\n",
    "a field without a colon": GOOD + b"X\r\n\r\n",
    "an empty field name": GOOD + b": a\r\n\r\n",
    "NUL in a value": GOOD + b"X: a\0b\r\n\r\n",
    "two lengths": GOOD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "a signed length": GOOD + b"Content-Length: +1\r\n\r\na",
    "a huge length": GOOD + b"Content-Length: 99999999999999999999\r\n\r\n",
    "length and chunks": GOOD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an unknown transfer coding": GOOD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked twice": GOOD + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "a chunk size that is none": GOOD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
}
NOT_SERVED = [
    ("GET /nowhere", {}, 404, "no_route"),
    ("TRACE /open/x", {}, 405, "method_not_proxied"),
    ("POST /reading/x", {"Content-Length": "0"}, 403, "refused_by_policy"),
    ("GET /open/x", {"Host": "evil.example.com"}, 421, "host_not_allowed"),
    ("GET /open/x", {"Host": "127.0.0.1:1"}, 421, "host_not_allowed"),
    ("GET /open/x", {"Origin": "https://evil.example.com"}, 403, "cross_site_refused"),
    ("GET /open/x", {"Origin": "null"}, 403, "cross_site_refused"),
    ("GET /open/x", {"Sec-Fetch-Site": "same-site"}, 403, "cross_site_refused"),
    ("GET /open/x", {"Sec-Fetch-Site": "cross-site"}, 403, "cross_site_refused"),
]


class Requests(Stage):
    def setUp(self):
        super().setUp()
        self.origin = Origin(self)
        upstream = f"http://127.0.0.1:{self.origin.port}/"
        self.proofd = Proofd(self, {}, {
            "open": {"path": "/open", "upstream": upstream},
            "reading": {"path": "/reading", "upstream": upstream, "methods": ["GET"]},
        })

    def send(self, request):
        """All that comes until proofd closes the connection."""
        with socket.create_connection(("127.0.0.1", self.proofd.port), timeout=10) as client:
            client.sendall(request.replace(b"{host}", f"127.0.0.1:{self.proofd.port}".encode()))
            return receive_all(client)

    def check(self, answer, status, code):
        head = answer.partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")
        self.assertEqual(head[0].split()[1], str(status), answer)
        self.assertIn(f"proofd-error: {code}", head)
        self.assertIn("cache-control: no-store", head)

    def test_a_broken_request_gets_400_and_a_closed_connection(self):
        for what, request in BROKEN.items():
            with self.subTest(what):
                self.check(self.send(request), 400, "bad_request")
        self.assertEqual(self.proofd.curl("/open/alive"), {"200": 1})
        self.assertEqual(self.origin.requests, ["GET /alive"])

    def test_a_head_that_is_too_large_gets_431(self):
        self.check(self.send(GOOD + b"X: " + b"a" * 40_000 + b"\r\n\r\n"), 431, "head_too_large")
        self.assertEqual(self.proofd.curl("/open/alive"), {"200": 1})

    def test_what_is_not_served_is_said_plainly(self):
        for line, more, status, code in NOT_SERVED:
            with self.subTest(line, **more):
                fields = {"Host": "{host}", "Connection": "close"} | more
                head = f"{line} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items())
                self.check(self.send(head.encode() + b"\r\n"), status, code)
        self.assertEqual(self.origin.requests, [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_another_local_user_is_refused(self):
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        curl = ["curl", "--silent", "--noproxy", "*", "--include", f"{self.proofd.url}/open/x"]
        self.check(self.run_command(*as_nobody, *curl, cwd="/").stdout, 403, "caller_unknown")
        self.assertEqual(self.origin.requests, [])
        self.assertTrue(self.run_command(*curl).stdout.startswith(b"HTTP/1.1 200"))


if __name__ == "__main__":
    unittest.main()
