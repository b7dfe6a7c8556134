#!/usr/bin/env python3
"""proofd between curl and canaille's userinfo, a Bearer API whose tokens end the moment others replace them."""

import time
import unittest

import requests
from canaille_server import PASSWORD, SCOPE, USER, Canaille
from harness import Proofd, Stage, result
from joserfc.jwk import ECKey
from logins import Client, import_grant, send_until
from requests_oauth2client import ClientSecretBasic, ClientSecretPost, PrivateKeyJwt

TOKEN_SECONDS = 4  # so short that the runs need several


class CanailleLogin(Stage):
    def setUp(self):
        super().setUp()
        self.canaille = Canaille(self, TOKEN_SECONDS)

    def userinfo(self, access_token):
        fields = {"Authorization": f"Bearer {access_token}"}
        return requests.get(self.canaille.userinfo_endpoint, headers=fields, timeout=10)

    def test_the_server_refuses_what_proofd_must_get_right(self):
        """Without this the runs below would prove nothing."""
        client = Client(self.canaille, ClientSecretBasic(*self.canaille.register("client_secret_basic")))
        tokens = client.log_in(self.canaille.visit, SCOPE)
        first = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        self.assertEqual(self.userinfo(tokens["access_token"]).status_code, 200)
        time.sleep(1)  # an access token made in the same second would be the same
        rotated = client.expect_tokens(**first)

        replaced = self.userinfo(tokens["access_token"])
        self.assertEqual(replaced.status_code, 401)
        self.assertIn('Bearer error="invalid_token"', replaced.headers["WWW-Authenticate"])
        self.assertEqual(self.userinfo(rotated["access_token"]).status_code, 200)
        self.assertEqual(client.token(**first).json(), {"error": "invalid_grant"})

        time.sleep(TOKEN_SECONDS + 1)
        late = client.token(**first | {"refresh_token": rotated["refresh_token"]})
        self.assertEqual(late.json(), {"error": "invalid_grant"})  # the refresh token ended with its access token

    def start_proofd(self, secret="", **client):
        return Proofd(
            self,
            credentials={"alice": {"provider": "oidc", "issuer": self.canaille.issuer, "scope": SCOPE} | client},
            routes={"me": {"path": "/me", "upstream": self.canaille.userinfo_endpoint, "credential": "alice"}},
            environment={"INTEROP_SECRET": secret},
        )

    def log_in(self, proofd, authentication):
        client = Client(self.canaille, authentication)
        tokens = client.log_in(self.canaille.visit, SCOPE)
        time.sleep(1)  # two access tokens of one second are the same, and the first is ended when the second comes
        import_grant(proofd, "alice", client.import_value(tokens, "id_token"))

    def refreshes(self, proofd):
        return [record for record in proofd.records(event="oauth") if record["target"] == "/oauth/token"]

    def send_over(self, proofd, refreshes):
        sent = send_until(
            self, proofd, "/me", lambda _: len(self.refreshes(proofd)) >= refreshes,
            seconds=4 * TOKEN_SECONDS * refreshes,
        )
        result(f"{self._testMethodName}: {sent} requests over {refreshes} refreshes, 0 failures")

    def test_requests_on_their_way_while_the_token_is_replaced(self):
        """A refresh ends the old access token at once, so some of them are refused and have to be sent again."""
        client_id, secret = self.canaille.register("client_secret_basic")
        proofd = self.start_proofd(
            secret, client_id=client_id, client_secret={"env": "INTEROP_SECRET"}, client_auth="basic",
        )
        self.log_in(proofd, ClientSecretBasic(client_id, secret))
        sent = 0
        while len(self.refreshes(proofd)) < 2 or proofd.records(sent)[-1]["auth"] != ["cached"]:
            self.assertEqual(proofd.curl("/me?n=[1-40]", connections=8), {"200": 40})
            sent += 40
        replayed = sum("token_retry" in record["auth"] for record in proofd.records(sent))
        refreshes = len(self.refreshes(proofd))
        result(f"canaille: {sent} requests over {refreshes} refreshes, 0 failures, {replayed} replayed")

    def test_a_client_with_its_secret_in_the_form(self):
        client_id, secret = self.canaille.register("client_secret_post")
        proofd = self.start_proofd(
            secret, client_id=client_id, client_secret={"env": "INTEROP_SECRET"}, client_auth="post",
        )
        self.log_in(proofd, ClientSecretPost(client_id, secret))
        self.send_over(proofd, refreshes=2)

    def test_a_client_that_signs(self):
        """canaille takes an assertion once, so each refresh needs another (RFC 7523 §3)."""
        key = ECKey.generate_key("P-256", {"kid": "interop-1", "alg": "ES256"})
        client_id, _ = self.canaille.register("private_key_jwt", jwks={"keys": [key.as_dict(private=False)]})
        private_key = self.write("client.jwk", key.as_dict(private=True))
        proofd = self.start_proofd(
            client_id=client_id, client_auth="private_key_jwt", private_key={"file": str(private_key)},
            key_id="interop-1",
        )
        self.log_in(proofd, PrivateKeyJwt(client_id, key.as_dict(private=True)))
        self.send_over(proofd, refreshes=2)

    def test_a_password_that_is_needed_once(self):
        client_id, secret = self.canaille.register("client_secret_basic")
        password = self.write("password", PASSWORD)
        proofd = self.start_proofd(
            secret, grant="password", client_id=client_id, client_secret={"env": "INTEROP_SECRET"}, client_auth="basic",
            username=USER, password={"file": str(password)},
        )
        self.assertEqual(proofd.curl("/me"), {"200": 1})
        password.unlink()
        self.send_over(proofd, refreshes=2)


if __name__ == "__main__":
    unittest.main()
