#!/usr/bin/env python3
"""proofd between curl and authgent-server as authorization server, with Apache as a DPoP-protected API: the grants
without a person, and nonces that are demanded with 401.
"""

import unittest

import requests
from apache import Apache
from authgent import JWT_BEARER, TOKEN_EXCHANGE, AssertionIssuer, Authgent
from harness import Proofd, Stage, result, wait_until
from logins import Client, claims_seen, import_grant, send_until
from requests_oauth2client import ClientSecretPost, PublicApp

TOKEN_SECONDS = 5


class AuthgentAndApache(Stage):
    def start_servers(self, token_seconds=TOKEN_SECONDS, **settings):
        self.authgent = Authgent(self, token_seconds, **settings)
        self.apache = Apache(self, self.authgent.jwks_uri)

    def start_proofd(self, credentials, routes, secret):
        shared = {"provider": "oidc", "issuer": self.authgent.issuer, "scope": "api:read"}
        return Proofd(
            self,
            credentials={name: shared | settings for name, settings in credentials.items()},
            routes=routes,
            environment={"INTEROP_SECRET": secret},
        )

    def test_the_server_refuses_what_proofd_must_get_right(self):
        """Without this the runs below would prove nothing."""
        self.start_servers(dpop=True)
        client_id, _ = self.authgent.register("none", "authorization_code", "refresh_token")
        client = Client(self.authgent, PublicApp(client_id), dpop=True)
        challenge = requests.post(
            self.authgent.token_endpoint, headers=client.proof(), timeout=10,
            data={"grant_type": "refresh_token", "refresh_token": "x", "client_id": client_id},
        )
        self.assertEqual((challenge.status_code, challenge.json()["error"]), (401, "use_dpop_nonce"))
        self.assertIn("DPoP-Nonce", challenge.headers)

        tokens = client.log_in(self.authgent.visit, "api:read")
        first = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        rotated = client.expect_tokens(**first)
        self.assertIn("issued_token_type", rotated)  # of another grant, and null
        self.assertIsNone(rotated["issued_token_type"])
        for used in (first, first | {"refresh_token": rotated["refresh_token"]}):
            self.assertEqual(client.token(**used).json()["error"], "invalid_grant")

    def test_a_nonce_demanded_with_401(self):
        self.start_servers(dpop=True)
        client_id, secret = self.authgent.register("client_secret_basic", "client_credentials")
        proofd = self.start_proofd(
            {"machine": {
                "grant": "client_credentials", "client_id": client_id, "client_secret": {"env": "INTEROP_SECRET"},
                "client_auth": "basic", "dpop": True,
            }},
            {"api": {"path": "/api", "upstream": f"{self.apache.url}/dpop", "credential": "machine"}},
            secret,
        )
        self.assertEqual(proofd.curl("/api/[1-20]"), {"200": 20})
        attempts = [record["attempts"] for record in proofd.records(event="oauth") if record["target"] == "/token"]
        self.assertEqual(attempts[0], 2)
        self.assertEqual({token["sub"] for token in claims_seen(self.apache.origin)}, {f"client:{client_id}"})

    def test_a_login_of_which_every_refresh_meets_a_nonce(self):
        self.start_servers(dpop=True)
        client_id, secret = self.authgent.register("client_secret_post", "authorization_code", "refresh_token")
        client = Client(self.authgent, ClientSecretPost(client_id, secret), dpop=True)
        proofd = self.start_proofd(
            {"alice": {
                "client_id": client_id, "client_secret": {"env": "INTEROP_SECRET"}, "client_auth": "post", "dpop": True,
            }},
            {"api": {"path": "/api", "upstream": f"{self.apache.url}/dpop", "credential": "alice"}},
            secret,
        )
        import_grant(proofd, "alice", client.import_value(client.log_in(self.authgent.visit, "api:read")))
        self.send_over(proofd, "/api", tokens=2)
        self.assertEqual({token["cnf"]["jkt"] for token in claims_seen(self.apache.origin)}, {client.key.dpop_jkt})

    def test_a_login_exchanged_for_each_audience(self):
        """Token exchange with the account's own access token as the subject (RFC 8693)."""
        self.start_servers(token_seconds=60)
        login_id, _ = self.authgent.register("none", "authorization_code", "refresh_token")
        client_id, secret = self.authgent.register("client_secret_basic", TOKEN_EXCHANGE)
        client = Client(self.authgent, PublicApp(login_id))
        proofd = self.start_proofd(
            {
                "alice": {"client_id": login_id},
                "exchange": {
                    "grant": "token_exchange", "subject_credential": "alice", "client_id": client_id,
                    "client_secret": {"env": "INTEROP_SECRET"}, "client_auth": "basic",
                },
            },
            {
                name: {
                    "path": f"/{name}", "upstream": f"{self.apache.url}/bearer", "credential": "exchange",
                    "audience": f"https://{name}.example",
                }
                for name in ("orders", "stock")
            },
            secret,
        )
        self.assertEqual(proofd.curl("/orders/x"), {"511": 1})
        import_grant(proofd, "alice", client.import_value(client.log_in(self.authgent.visit, "api:read")))
        wait_until("the exchange knows of the login", lambda: proofd.curl("/orders/x") == {"200": 1})
        for name in ("orders", "stock"):
            self.assertEqual(proofd.curl(f"/{name}/[1-5]"), {"200": 5})
        seen = claims_seen(self.apache.origin)
        self.assertEqual([token["aud"] for token in seen], ["https://orders.example", "https://stock.example"])
        self.assertEqual({token["act"]["sub"] for token in seen}, {f"client:{client_id}"})
        self.send_over(proofd, "/orders", tokens=3)

    def test_one_login_that_feeds_its_audiences_by_exchange(self):
        self.start_servers(dpop=True)
        client_id, _ = self.authgent.register("none", "authorization_code", "refresh_token", TOKEN_EXCHANGE)
        client = Client(self.authgent, PublicApp(client_id), dpop=True)
        proofd = self.start_proofd(
            {"alice": {"client_id": client_id, "dpop": True, "targets": "token_exchange"}},
            {
                name: {
                    "path": f"/{name}", "upstream": f"{self.apache.url}/dpop", "credential": "alice",
                    "audience": f"https://{name}.example",
                }
                for name in ("orders", "stock")
            },
            "",
        )
        import_grant(proofd, "alice", client.import_value(client.log_in(self.authgent.visit, "api:read")))
        for name in ("orders", "stock"):
            self.assertEqual(proofd.curl(f"/{name}/[1-5]"), {"200": 5})
        seen = claims_seen(self.apache.origin)
        self.assertEqual([token["aud"] for token in seen], ["https://orders.example", "https://stock.example"])

    def test_assertions_signed_for_each_token(self):
        """authgent takes an assertion once (RFC 7523 §3), so each renewal needs another."""
        issuer = AssertionIssuer(self)
        self.start_servers(trusted_issuer=issuer.issuer)
        client_id, secret = self.authgent.register("client_secret_post", JWT_BEARER)
        proofd = self.start_proofd(
            {"machine": {
                "grant": "jwt_bearer", "client_id": client_id, "client_secret": {"env": "INTEROP_SECRET"},
                "client_auth": "post",
                "signed_assertion": {
                    "issuer": issuer.issuer, "subject": "alice", "private_key": {"file": str(issuer.private_key)},
                    "key_id": issuer.key_id, "claims": {"email": "alice@example.test"},
                },
            }},
            {"api": {"path": "/api", "upstream": f"{self.apache.url}/bearer", "credential": "machine"}},
            secret,
        )
        self.send_over(proofd, "/api", tokens=3)
        subjects = {(token["sub"], token["chained_from"]) for token in claims_seen(self.apache.origin)}
        self.assertEqual(subjects, {("alice", issuer.issuer)})

    def send_over(self, proofd, path, tokens):
        """Sends requests until the API has seen so many tokens."""
        sent = send_until(
            self, proofd, f"{path}/x", lambda _: len(claims_seen(self.apache.origin)) >= tokens,
            seconds=4 * TOKEN_SECONDS * tokens,
        )
        result(f"{self._testMethodName}: {sent} requests over {tokens} tokens, 0 failures")


if __name__ == "__main__":
    unittest.main()
