#!/usr/bin/env python3
"""proofd between curl and nanoidp's userinfo, with refresh tokens of 1 kB that rotate or serve for ever."""

import unittest

import requests
from harness import Stage
from logins import Client
from nanoidp_server import CLIENT_ID, CLIENT_SECRET, PUBLIC_CLIENT, SCOPE, Nanoidp


class NanoidpLogin(Stage):
    def test_the_server_refuses_what_proofd_must_get_right(self):
        """Without this the runs below would prove nothing."""
        nanoidp = Nanoidp(self)
        client = Client(nanoidp, PUBLIC_CLIENT)
        tokens = client.log_in(nanoidp.visit, SCOPE)
        self.assertGreater(len(tokens["refresh_token"]), 900)
        first = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        rotated = client.expect_tokens(**first)
        for used in (first, first | {"refresh_token": rotated["refresh_token"]}):
            self.assertEqual(client.token(**used).json()["error"], "invalid_grant")

        refused = requests.get(nanoidp.userinfo_endpoint, headers={"Authorization": "Bearer x"}, timeout=10)
        self.assertEqual((refused.status_code, refused.json()["error"]), (401, "invalid_token"))
        self.assertNotIn("WWW-Authenticate", refused.headers)

    def test_the_server_takes_a_confidential_clients_token_for_ever(self):
        nanoidp = Nanoidp(self, profile="dev")
        client = Client(nanoidp, CLIENT_ID, CLIENT_SECRET)
        tokens = client.log_in(nanoidp.visit, SCOPE)
        first = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        answers = [client.expect_tokens(**first) for _ in range(3)]
        self.assertEqual(len({answer["refresh_token"] for answer in answers}), 3)  # a new one nevertheless


if __name__ == "__main__":
    unittest.main()
