#!/usr/bin/env python3
"""A login at glewlwyd that proofd took over: refresh tokens that serve once and are bound to a DPoP key, between curl and
two DPoP-protected APIs, glewlwyd's userinfo (with nonces) and Apache (checks the key).
"""

import unittest

from apache import Apache
from glewlwyd import LOGIN_CLIENT_ID, LOGIN_SCOPE, Glewlwyd
from harness import Stage
from logins import Client

TOKEN_SECONDS = 3  # so short that the runs need several


class GlewlwydLogin(Stage):
    def setUp(self):
        super().setUp()
        self.glewlwyd = Glewlwyd(self, TOKEN_SECONDS)
        self.apache = Apache(self, self.glewlwyd.jwks_uri)
        self.client = Client(self.glewlwyd, LOGIN_CLIENT_ID, dpop=True)
        self.tokens = self.client.log_in(self.glewlwyd.visit, LOGIN_SCOPE)

    def test_the_server_refuses_what_proofd_must_get_right(self):
        """Without this the runs below would prove nothing."""
        other = Client(self.glewlwyd, LOGIN_CLIENT_ID, dpop=True)
        first = {"grant_type": "refresh_token", "refresh_token": self.tokens["refresh_token"]}
        foreign = other.token(**first)
        self.assertEqual((foreign.status_code, foreign.json()["error"]), (403, "invalid_dpop_proof"))

        rotated = self.client.expect_tokens(**first)
        self.assertNotIn("id_token", rotated)
        second = first | {"refresh_token": rotated["refresh_token"]}
        self.assertEqual(self.client.token(**second).status_code, 200)
        for used in (first, second):
            answer = self.client.token(**used)
            self.assertEqual((answer.status_code, answer.content), (400, b""))  # no error code at all


if __name__ == "__main__":
    unittest.main()
