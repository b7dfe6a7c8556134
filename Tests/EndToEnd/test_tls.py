#!/usr/bin/env python3
"""TLS upstreams are verified against the route's own authority."""

import unittest

from certificates import Authority
from harness import Origin, Proofd, Stage


class TLS(Stage):
    def setUp(self):
        super().setUp()
        ours, other = Authority(self.directory, "ours"), Authority(self.directory, "other")
        certificate = ours.issue("server", "localhost", "127.0.0.1")
        self.origin = Origin(self, "tls-origin", certificate)
        self.older = Origin(self, "tls-1.2-origin", certificate, "TLSv1_2")
        misnamed = Origin(self, "misnamed-origin", ours.issue("misnamed", "somebody-else.example"))
        plain = Origin(self, "plain-origin")

        def route(path, upstream, authority):
            return {"path": path, "upstream": upstream, "tls": {"ca": str(authority.certificate)}}

        self.proofd = Proofd(self, {}, {
            "trusted": route("/trusted", f"https://localhost:{self.origin.port}/", ours),
            "by-address": route("/by-address", f"https://127.0.0.1:{self.origin.port}/", ours),
            "older": route("/older", f"https://localhost:{self.older.port}/", ours),
            "untrusted": route("/untrusted", f"https://localhost:{self.origin.port}/", other),
            "misnamed": route("/misnamed", f"https://localhost:{misnamed.port}/", ours),
            "not-tls": route("/not-tls", f"https://localhost:{plain.port}/", ours),
        }, threads=1)

    def test_a_private_authority_is_trusted_where_a_route_names_it(self):
        self.assertEqual(self.proofd.curl("/trusted/[1-20]"), {"200": 20})
        self.assertEqual(self.proofd.curl("/by-address/[1-20]"), {"200": 20})
        self.assertEqual(len(self.origin.requests), 40)

    def test_the_next_connection_resumes_the_session_of_the_one_before(self):
        for path, origin in (("trusted", self.origin), ("older", self.older)):
            with self.subTest(path):
                self.assertEqual(self.proofd.curl(f"/{path}/close?[1-5]"), {"200": 5})
                self.assertEqual((origin.connections, origin.resumptions), (6, 4))

    def test_what_can_not_be_verified_is_not_sent(self):
        for path in ("untrusted", "misnamed", "not-tls"):
            with self.subTest(path):
                answer = self.curl("--include", f"{self.proofd.url}/{path}/secret").stdout.decode()
                self.assertTrue(answer.startswith("HTTP/1.1 502 "), answer)
                self.assertIn("proofd-error: upstream_tls\r\n", answer.lower())
        self.assertEqual(self.origin.requests, [])

    def curl(self, *arguments):
        return self.run_command("curl", "--silent", "--show-error", "--noproxy", "*", *arguments)


if __name__ == "__main__":
    unittest.main()
