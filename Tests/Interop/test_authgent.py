#!/usr/bin/env python3
"""proofd between curl and authgent-server as authorization server, with Apache as a DPoP-protected API: the grants
without a person, and nonces that are demanded with 401.
"""

import unittest

import requests
from apache import Apache
from authgent import Authgent
from harness import Proofd, Stage
from logins import Client, claims_seen

TOKEN_SECONDS = 5


class AuthgentAndApache(Stage):
    def start_servers(self, **settings):
        self.authgent = Authgent(self, TOKEN_SECONDS, **settings)
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
        client = Client(self.authgent, client_id, dpop=True)
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


if __name__ == "__main__":
    unittest.main()
