#!/usr/bin/env python3
"""A login at glewlwyd that proofd took over: refresh tokens that serve once and are bound to a DPoP key, between curl
and two DPoP-protected APIs, glewlwyd's userinfo (with nonces) and Apache (checks the key).
"""

import time
import unittest

import requests
from apache import Apache
from glewlwyd import LOGIN_CLIENT_ID, LOGIN_SCOPE, Glewlwyd
from harness import Proofd, Stage, result
from logins import Client, claims_seen, import_grant, send_until
from requests_oauth2client import PublicApp

REQUESTS, BATCH, REFRESHES = 500, 84, 5
BATCH_SECONDS, SHORT_SECONDS = 5, 2


class GlewlwydLogin(Stage):
    def start_servers(self, token_seconds):
        self.glewlwyd = Glewlwyd(self, token_seconds)
        self.apache = Apache(self, self.glewlwyd.jwks_uri)
        self.client = Client(self.glewlwyd, PublicApp(LOGIN_CLIENT_ID), dpop=True)
        self.tokens = self.client.log_in(self.glewlwyd.visit, LOGIN_SCOPE)

    def test_the_server_refuses_what_proofd_must_get_right(self):
        """Without this the runs below would prove nothing."""
        self.start_servers(SHORT_SECONDS)
        other = Client(self.glewlwyd, PublicApp(LOGIN_CLIENT_ID), dpop=True)
        first = {"grant_type": "refresh_token", "refresh_token": self.tokens["refresh_token"]}
        foreign = other.token(**first)
        self.assertEqual((foreign.status_code, foreign.json()["error"]), (403, "invalid_dpop_proof"))

        rotated = self.client.expect_tokens(**first)
        self.assertNotIn("id_token", rotated)
        second = first | {"refresh_token": rotated["refresh_token"]}
        self.assertEqual(self.client.token(**second).status_code, 200)
        self.assertEqual(self.glewlwyd.refresh_tokens, 3)
        for used in (first, second):
            answer = self.client.token(**used)
            self.assertEqual((answer.status_code, answer.content), (400, b""))  # no error code at all

    def start_proofd(self):
        proofd = Proofd(
            self,
            credentials={"alice": {
                "provider": "oidc", "issuer": self.glewlwyd.issuer, "client_id": LOGIN_CLIENT_ID, "scope": LOGIN_SCOPE,
                "dpop": True,
            }},
            routes={
                "me": {"path": "/me", "upstream": self.glewlwyd.userinfo_endpoint, "credential": "alice"},
                "api": {"path": "/api", "upstream": f"{self.apache.url}/dpop", "credential": "alice"},
            },
        )
        import_grant(proofd, "alice", self.client.import_value(self.tokens, "id_token", "scope"))
        return proofd

    def refreshes(self, proofd):
        """As proofd counts them, without the one that proved the import."""
        return sum(record["target"].endswith("/token") for record in proofd.records(event="oauth")) - 1

    def test_requests_over_many_refreshes(self):
        """userinfo wants nonces, of which each refresh takes one away: the token endpoint has the same ones.

        Each batch but the first begins when the token has ended. glewlwyd may lose a rotation that it makes while it
        answers others: it says 500, and has spent the refresh token.
        """
        self.start_servers(BATCH_SECONDS)
        proofd = self.start_proofd()
        issued = self.glewlwyd.refresh_tokens
        for _ in range(REFRESHES + 1):
            began = time.monotonic()
            self.assertEqual(proofd.curl(f"/me?n=[1-{BATCH}]"), {"200": BATCH})
            time.sleep(max(0, began + BATCH_SECONDS - time.monotonic()))
        records = proofd.records(BATCH * (REFRESHES + 1))
        failures = [record for record in records if record["status"] != 200 or record["source"] != "upstream"]
        self.assertEqual(failures, [])
        self.assertEqual((self.refreshes(proofd), self.glewlwyd.refresh_tokens - issued), (REFRESHES, REFRESHES))
        nonces = sum("nonce_retry" in record["auth"] for record in records)
        result(
            f"userinfo: {len(records)} requests over {REFRESHES} refreshes, 0 failures, "
            f"{nonces} replayed with another nonce"
        )

    def test_an_api_that_checks_the_key(self):
        self.start_servers(SHORT_SECONDS)
        proofd = self.start_proofd()
        self.assertEqual(proofd.curl(f"/api/orders/[1-{REQUESTS}]", connections=8), {"200": REQUESTS})
        sent = send_until(self, proofd, "/api/x", lambda _: self.refreshes(proofd) >= 2, seconds=20)
        self.assertEqual({token["cnf"]["jkt"] for token in claims_seen(self.apache.origin)}, {self.client.key.dpop_jkt})
        result(f"Apache: {REQUESTS + sent} requests over {self.refreshes(proofd)} refreshes, 0 failures")

    def test_a_refresh_token_that_somebody_else_used(self):
        """glewlwyd then ends the whole family, and says so with an empty 400, which is no `invalid_grant`."""
        self.start_servers(SHORT_SECONDS)
        proofd = self.start_proofd()
        self.assertEqual(proofd.curl("/me"), {"200": 1})
        self.client.token(grant_type="refresh_token", refresh_token=self.tokens["refresh_token"])
        time.sleep(SHORT_SECONDS)
        for _ in range(2):
            answer = requests.get(f"{proofd.url}/me", timeout=20)
            self.assertIn(answer.headers.get("Proofd-Error"), ("token_refused", "login_required"), answer.text)
        self.assertNotEqual(proofd.verb("status").returncode, 0)
        self.assertIn(b"alice", proofd.verb("credentials", "list").stdout)  # nothing was deleted


if __name__ == "__main__":
    unittest.main()
