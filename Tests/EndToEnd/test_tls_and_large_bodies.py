#!/usr/bin/env python3
"""TLS upstreams are verified against the route's own authority, and large bodies arrive as they were sent."""

import hashlib
import os
import unittest

from certificates import Authority
from harness import Origin, Proofd, Stage, result
from origin import pattern

LARGE_BYTES = 50_000_000


class TLSAndLargeBodies(Stage):
    def setUp(self):
        super().setUp()
        ours, other = Authority(self.directory, "ours"), Authority(self.directory, "other")
        self.origin = Origin(self, "tls-origin", ours.issue("server", "localhost", "127.0.0.1"))
        misnamed = Origin(self, "misnamed-origin", ours.issue("misnamed", "somebody-else.example"))
        plain = Origin(self, "plain-origin")

        def route(path, upstream, authority):
            return {"path": path, "upstream": upstream, "tls": {"ca": str(authority.certificate)}}

        self.proofd = Proofd(self, {}, {
            "trusted": route("/trusted", f"https://localhost:{self.origin.port}/", ours),
            "by-address": route("/by-address", f"https://127.0.0.1:{self.origin.port}/", ours),
            "untrusted": route("/untrusted", f"https://localhost:{self.origin.port}/", other),
            "misnamed": route("/misnamed", f"https://localhost:{misnamed.port}/", ours),
            "not-tls": route("/not-tls", f"https://localhost:{plain.port}/", ours),
            "plain": {"path": "/plain", "upstream": f"http://127.0.0.1:{plain.port}/"},
        })

    def test_a_private_authority_is_trusted_where_a_route_names_it(self):
        self.assertEqual(self.proofd.curl("/trusted/[1-20]"), {"200": 20})
        self.assertEqual(self.proofd.curl("/by-address/[1-20]"), {"200": 20})
        self.assertEqual(len(self.origin.requests), 40)

    def test_what_can_not_be_verified_is_not_sent(self):
        for path in ("untrusted", "misnamed", "not-tls"):
            with self.subTest(path):
                answer = self.curl("--include", f"{self.proofd.url}/{path}/secret").stdout.decode()
                self.assertTrue(answer.startswith("HTTP/1.1 502 "), answer)
                self.assertIn("proofd-error: upstream_tls\r\n", answer.lower())
        self.assertEqual(self.origin.requests, [])

    def test_50_MB_arrive_as_they_were_sent(self):
        large = self.directory / "large"
        large.write_bytes(os.urandom(LARGE_BYTES))
        sent = hashlib.sha256(large.read_bytes()).hexdigest()
        expected = hashlib.sha256(b"".join(pattern(LARGE_BYTES))).hexdigest()
        for path in ("plain", "trusted"):
            for framing in ("Content-Length", "Transfer-Encoding: chunked"):
                with self.subTest(path, framing=framing):
                    # With a colon it is a field to add; without, curl knows the length of a file.
                    more = ["--header", framing] if ":" in framing else []
                    echo = self.curl("--upload-file", large, *more, f"{self.proofd.url}/{path}/upload").stdout
                    self.assertIn(f'"body_sha256": "{sent}"', echo.decode())
            with self.subTest(path):
                body = self.curl(f"{self.proofd.url}/{path}/bytes/{LARGE_BYTES}").stdout
                self.assertEqual(hashlib.sha256(body).hexdigest(), expected)
        result("50 MB up and down, plain and TLS: identical")

    def curl(self, *arguments):
        return self.run_command("curl", "--silent", "--show-error", "--noproxy", "*", *arguments)


if __name__ == "__main__":
    unittest.main()
