#!/usr/bin/env python3
"""proofd between curl and nanoidp's userinfo, with refresh tokens of 1 kB that rotate or serve for ever."""

import unittest

import requests
from harness import Proofd, Stage
from logins import Client, import_grant
from nanoidp_server import CLIENT_ID, CLIENT_SECRET, PUBLIC_CLIENT, SCOPE, Nanoidp
from requests_oauth2client import ClientSecretBasic, PublicApp

ROUTES = {"short": 1, "longer": 2, "longest": 3}  # the minutes that their tokens live


class NanoidpLogin(Stage):
    def test_the_server_refuses_what_proofd_must_get_right(self):
        """Without this the runs below would prove nothing."""
        nanoidp = Nanoidp(self)
        client = Client(nanoidp, PublicApp(PUBLIC_CLIENT))
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
        client = Client(nanoidp, ClientSecretBasic(CLIENT_ID, CLIENT_SECRET))
        tokens = client.log_in(nanoidp.visit, SCOPE)
        first = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        answers = [client.expect_tokens(**first) for _ in range(3)]
        self.assertEqual(len({answer["refresh_token"] for answer in answers}), 3)  # a new one nevertheless

    def start_proofd(self, nanoidp, **client):
        return Proofd(
            self,
            credentials={"alice": {"provider": "oidc", "issuer": nanoidp.issuer, "scope": SCOPE} | client},
            routes={
                name: {
                    "path": f"/{name}", "upstream": nanoidp.userinfo_endpoint, "credential": "alice",
                    "parameters": {"exp": minutes},
                }
                for name, minutes in ROUTES.items()
            },
            environment={"INTEROP_SECRET": CLIENT_SECRET},
        )

    def test_a_login_for_several_targets_over_restarts(self):
        """Each needs a refresh of its own, and so the newest refresh token of a family that reuse would end.

        They do not differ in scope: a refresh for less would take the rest from nanoidp's next refresh token as well.
        """
        nanoidp = Nanoidp(self)
        client = Client(nanoidp, PublicApp(PUBLIC_CLIENT))
        proofd = self.start_proofd(nanoidp, client_id=PUBLIC_CLIENT)
        import_grant(proofd, "alice", client.import_value(client.log_in(nanoidp.visit, SCOPE), "id_token"))
        for name in ROUTES:
            self.assertEqual(proofd.curl(f"/{name}?n=[1-10]"), {"200": 10})
            proofd.restart()
        for name in ROUTES:
            self.assertEqual(proofd.curl(f"/{name}?n=[1-10]"), {"200": 10})

    def test_a_confidential_client(self):
        nanoidp = Nanoidp(self, profile="dev")
        client = Client(nanoidp, ClientSecretBasic(CLIENT_ID, CLIENT_SECRET))
        proofd = self.start_proofd(
            nanoidp, client_id=CLIENT_ID, client_secret={"env": "INTEROP_SECRET"}, client_auth="basic",
        )
        import_grant(proofd, "alice", client.import_value(client.log_in(nanoidp.visit, SCOPE), "id_token"))
        for name in ROUTES:
            self.assertEqual(proofd.curl(f"/{name}?n=[1-10]"), {"200": 10})


if __name__ == "__main__":
    unittest.main()
