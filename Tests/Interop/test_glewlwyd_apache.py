#!/usr/bin/env python3
"""proofd between curl and servers nobody here wrote: glewlwyd as authorization server, Apache as DPoP-protected API."""

import time
import unittest

import requests
from apache import Apache
from glewlwyd import CLIENT_ID, CLIENT_SECRET, SCOPE, Glewlwyd
from harness import Proofd, Stage, result
from requests_oauth2client import DPoPKey

REQUESTS = 500
TOKEN_SECONDS = 5  # so short that the runs need several


class GlewlwydAndApache(Stage):
    def setUp(self):
        super().setUp()
        self.glewlwyd = Glewlwyd(self, TOKEN_SECONDS)
        self.apache = Apache(self, self.glewlwyd.jwks_uri)

    def start_proofd(self):
        return Proofd(
            self,
            credentials={
                "glewlwyd": {
                    "provider": "oidc", "issuer": self.glewlwyd.issuer, "grant": "client_credentials",
                    "client_id": CLIENT_ID, "client_secret": {"env": "INTEROP_SECRET"}, "client_auth": "basic",
                    "scope": SCOPE, "dpop": True,
                }
            },
            routes={
                "api": {"path": "/api", "upstream": f"{self.apache.url}/dpop", "credential": "glewlwyd"},
            },
            environment={"INTEROP_SECRET": CLIENT_SECRET},
        )

    def test_the_servers_refuse_what_proofd_must_get_right(self):
        """Without this the runs below would prove nothing."""
        proof = DPoPKey.generate(alg="ES256").proof(htm="POST", htu=self.glewlwyd.token_endpoint)
        unproven = requests.post(
            self.glewlwyd.token_endpoint, auth=(CLIENT_ID, CLIENT_SECRET), headers={"DPoP": str(proof)},
            data={"grant_type": "client_credentials", "scope": SCOPE}, timeout=10,
        )
        self.assertEqual((unproven.status_code, unproven.json()["error"]), (400, "use_dpop_nonce"))
        self.assertEqual(requests.get(f"{self.apache.url}/dpop/x", timeout=10).status_code, 401)
        self.assertEqual(self.apache.origin.requests, [])

    def test_curl_on_one_connection(self):
        self.run_curl(connections=1)

    def test_curl_on_eight_connections(self):
        self.run_curl(connections=8)

    def run_curl(self, connections):
        proofd = self.start_proofd()
        began = time.monotonic()
        statuses = proofd.curl(f"/api/orders/[1-{REQUESTS}]?a=1&b=%23", connections)
        seconds = time.monotonic() - began
        self.assertEqual(statuses, {"200": REQUESTS})
        served = sorted(f"GET /orders/{number}?a=1&b=%23" for number in range(1, REQUESTS + 1))
        self.assertEqual(sorted(self.apache.origin.requests), served)

        records = proofd.records(REQUESTS)
        failures = [record for record in records if record["status"] != 200 or record["source"] != "upstream"]
        self.assertEqual(failures, [])
        tokens = len(proofd.records(event="oauth"))
        result(
            f"{REQUESTS} requests with curl, {connections} at a time: 0 failures, {seconds:.1f} s, "
            f"{tokens} token requests"
        )


    def test_tokens_that_end_are_renewed_ahead(self):
        proofd = self.start_proofd()
        deadline = time.monotonic() + 4 * TOKEN_SECONDS
        while len(proofd.records(event="oauth")) < 3:
            self.assertLess(time.monotonic(), deadline, "no third token request")
            self.assertEqual(proofd.curl("/api/[1-20]"), {"200": 20})


if __name__ == "__main__":
    unittest.main()
