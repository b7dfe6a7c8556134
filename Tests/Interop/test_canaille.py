#!/usr/bin/env python3
"""proofd between curl and canaille's userinfo, a Bearer API whose tokens end the moment others replace them."""

import time
import unittest

import requests
from canaille_server import SCOPE, Canaille
from harness import Stage
from logins import Client

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
        client = Client(self.canaille, *self.canaille.register("client_secret_basic"))
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


if __name__ == "__main__":
    unittest.main()
