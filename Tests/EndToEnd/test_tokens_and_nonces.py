#!/usr/bin/env python3
"""What tokens and nonces cost, counted where it counts: at the authorization server and the API."""

import hashlib
import os
import time
import unittest

from harness import Proofd, Simulator, Stage, result, wait_until

REQUESTS = 1000


class TokensAndNonces(Stage):
    def start_both(self, **simulation):
        self.simulator = Simulator(self, **simulation)
        return Proofd(
            self, {"svc": self.simulator.credential()},
            {"api": {"path": "/api", "upstream": self.simulator.api, "credential": "svc"}},
            self.simulator.environment,
        )

    def test_nonces_that_rotate_on_every_200_cost_no_extra_request(self):
        proofd = self.start_both(nonces="rotate")
        self.assertEqual(proofd.curl("/api/echo"), {"200": 1})
        self.assertEqual(self.simulator.count("api"), 2, "the first request is challenged once")
        self.simulator.forget()
        self.assertEqual(proofd.curl(f"/api/echo?[1-{REQUESTS}]"), {"200": REQUESTS})
        self.assertEqual(self.simulator.count("api"), REQUESTS)
        self.assertEqual(self.simulator.token_requests, 0)
        proofs = [entry["proof"]["claims"] for entry in self.simulator.journal()]
        self.assertEqual(len({claims["jti"] for claims in proofs}), REQUESTS)
        self.assertEqual(len({claims["nonce"] for claims in proofs}), REQUESTS)
        result(f"{REQUESTS} requests with a new nonce in every answer: {REQUESTS} requests at the API")

    def test_200_requests_at_expiry_make_one_token_request(self):
        proofd = self.start_both(token_seconds=2)
        self.assertEqual(proofd.curl("/api/echo"), {"200": 1})
        expired = time.monotonic() + 2
        wait_until("the first token has expired", lambda: time.monotonic() > expired)
        self.simulator.set(authorization_server={"token_lifetime_seconds": 300})
        self.simulator.fault("as", {"fault": "delay", "at": "before", "ms": 500}, path="/token")
        before = self.simulator.token_requests
        self.assertEqual(proofd.curl("/api/echo?[1-200]", connections=200), {"200": 200})
        self.assertEqual(self.simulator.token_requests - before, 1)
        result("200 requests at expiry: 1 token request")

    def test_200_first_requests_make_one_token_request(self):
        proofd = self.start_both()
        self.simulator.fault("as", {"fault": "delay", "at": "before", "ms": 500}, path="/token")
        self.assertEqual(proofd.curl("/api/echo?[1-200]", connections=200), {"200": 200})
        self.assertEqual(self.simulator.token_requests, 1)

    def test_an_api_that_always_says_invalid_token_costs_two_refreshes_at_most(self):
        proofd = self.start_both()
        self.assertEqual(proofd.curl("/api/echo"), {"200": 1})
        self.simulator.set(api={"invalid_token": {"next": "always"}})
        self.simulator.forget()
        self.assertEqual(proofd.curl(f"/api/echo?[1-{REQUESTS}]", connections=8), {"401": REQUESTS})
        refreshes = self.simulator.token_requests
        self.assertLessEqual(refreshes, 2)
        self.assertLessEqual(self.simulator.count("api"), REQUESTS + 16)
        result(f"an API that always says invalid_token: {REQUESTS} requests, {refreshes} refreshes")

    def test_an_api_that_challenges_for_ever_gets_two_requests(self):
        proofd = self.start_both(nonces="off")
        self.simulator.set(api={"nonce": {"mode": "always-challenge"}})
        self.assertEqual(proofd.curl("/api/echo"), {"401": 1})
        self.assertEqual(self.simulator.count("api"), 2)

    def test_50_MB_reach_an_api_whose_nonce_is_not_known_yet(self):
        """Too large to keep for a second time, so proofd waits for 100 Continue, or for the challenge, before it sends."""
        large = self.directory / "large"
        large.write_bytes(os.urandom(50_000_000))
        sent = hashlib.sha256(large.read_bytes()).hexdigest()
        proofd = self.start_both(nonces="rotate")
        self.assertEqual(proofd.curl("/api/echo"), {"200": 1})
        for rejection in ("early-read", "early-close"):
            with self.subTest(rejection):
                self.simulator.set(api={"rejection": rejection})
                self.simulator.ask("POST", "/nonces/expire?role=api")
                self.simulator.forget()
                answer = self.run_command("curl", "--silent", "--noproxy", "*", "-T", large, f"{proofd.url}/api/upload")
                self.assertIn(sent, answer.stdout.decode())
                self.assertEqual(self.simulator.count("api"), 2)

    def test_the_last_token_serves_while_the_issuer_is_down(self):
        proofd = self.start_both(token_seconds=4)
        self.assertEqual(proofd.curl("/api/echo"), {"200": 1})
        began = time.monotonic()
        self.simulator.fault("as", {"fault": "drop", "at": "head", "ending": "reset"}, next="always")
        while time.monotonic() < began + 2:
            self.assertEqual(proofd.curl("/api/echo"), {"200": 1})
        wait_until("the token has expired", lambda: time.monotonic() > began + 5)
        answer = self.run_command("curl", "--silent", "--include", "--noproxy", "*", f"{proofd.url}/api/echo").stdout
        head = answer.decode().partition("\r\n\r\n")[0].lower()
        self.assertTrue(head.startswith("http/1.1 503 "), head)
        self.assertIn("proofd-error: token_unavailable", head)
        self.assertIn("retry-after: ", head)


if __name__ == "__main__":
    unittest.main()
