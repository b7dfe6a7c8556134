#!/usr/bin/env python3
"""proofd between curl and an API of Django REST framework, with django-oauth-toolkit as its authorization server: a
token that ends early is replaced, and the request replayed, before the client learns of it.
"""

import unittest

import requests
from django_server import CLIENT_ID, CLIENT_SECRET, PUBLIC_CLIENT, SCOPE, DjangoServer
from harness import Proofd, Stage, result
from logins import Client, import_grant
from requests_oauth2client import ClientSecretBasic, PublicApp

REQUESTS = 200
GRACE_SECONDS = 30


class DjangoToolkit(Stage):
    def start_server(self, **settings):
        self.django = DjangoServer(self, **settings)
        self.client = Client(self.django, PublicApp(PUBLIC_CLIENT))
        self.tokens = self.client.log_in(self.django.visit, SCOPE)

    def test_the_server_refuses_what_proofd_must_get_right(self):
        """Without this the runs below would prove nothing."""
        self.start_server()
        old = {"Authorization": f"Bearer {self.tokens['access_token']}"}
        orders = f"{self.django.api}/"
        self.assertEqual(requests.get(orders, headers=old, timeout=10).status_code, 200)
        self.django.end_access_tokens()
        ended = requests.get(orders, headers=old, timeout=10)
        self.assertEqual(ended.status_code, 401)
        self.assertIn('Bearer realm="api",error="invalid_token"', ended.headers["WWW-Authenticate"])

        first = {"grant_type": "refresh_token", "refresh_token": self.tokens["refresh_token"]}
        rotated = self.client.expect_tokens(**first)
        self.assertEqual(self.client.token(**first).json(), {"error": "invalid_grant"})
        family = self.client.token(**first | {"refresh_token": rotated["refresh_token"]})
        self.assertEqual(family.json(), {"error": "invalid_grant"})

    def test_the_server_gives_the_same_tokens_again_within_its_grace_period(self):
        self.start_server(grace_seconds=GRACE_SECONDS)
        first = {"grant_type": "refresh_token", "refresh_token": self.tokens["refresh_token"]}
        answers = [self.client.expect_tokens(**first) for _ in range(2)]
        self.assertEqual(len({answer["refresh_token"] for answer in answers}), 1)
        self.assertEqual(len({answer["access_token"] for answer in answers}), 1)

    def start_proofd(self, **client):
        proofd = Proofd(
            self,
            credentials={"alice": {
                "provider": "oidc", "issuer": self.django.issuer, "client_id": self.client.client_id, "scope": SCOPE,
            } | client},
            routes={"orders": {"path": "/orders", "upstream": self.django.api, "credential": "alice"}},
            environment={"INTEROP_SECRET": CLIENT_SECRET},
        )
        import_grant(proofd, "alice", self.client.import_value(self.tokens, "id_token"))
        return proofd

    def test_a_token_that_ended_early(self):
        self.start_server()
        proofd = self.start_proofd()
        issued = self.django.refresh_tokens
        self.django.end_access_tokens()
        for number in range(1, 4):
            answer = requests.get(f"{proofd.url}/orders/", timeout=20)
            self.assertEqual((answer.status_code, answer.json()), (200, {"user": "alice", "scope": SCOPE}))
            record = proofd.records(number)[-1]
            self.assertEqual(record["attempts"], 2 if number == 1 else 1)
            self.assertEqual("token_retry" in record["auth"], number == 1)
        self.assertEqual(self.django.refresh_tokens - issued, 1)

    def test_an_order_is_placed_once_although_its_token_had_ended(self):
        self.start_server()
        proofd = self.start_proofd()
        self.django.end_access_tokens()
        order = {"article": 17, "text": "n" * 200_000}
        answer = requests.post(f"{proofd.url}/orders/", json=order, timeout=20)
        self.assertEqual((answer.status_code, answer.json()), (200, {"user": "alice", "received": order}))
        self.assertEqual(proofd.records(1)[-1]["attempts"], 2)

    def test_many_requests_with_a_token_that_ended(self):
        self.start_server()
        proofd = self.start_proofd()
        issued = self.django.refresh_tokens
        self.django.end_access_tokens()
        self.assertEqual(proofd.curl(f"/orders/?n=[1-{REQUESTS}]", connections=8), {"200": REQUESTS})
        self.assertEqual(self.django.refresh_tokens - issued, 1)
        replayed = sum("token_retry" in record["auth"] for record in proofd.records(REQUESTS))
        result(f"{REQUESTS} requests, 8 at a time, with a token that had ended: 1 refresh, {replayed} replayed")

    def test_a_confidential_client(self):
        self.start_server()
        self.client = Client(self.django, ClientSecretBasic(CLIENT_ID, CLIENT_SECRET))
        for authentication in ("basic", "post"):
            with self.subTest(authentication):
                self.tokens = self.client.log_in(self.django.visit, SCOPE)
                proofd = self.start_proofd(client_secret={"env": "INTEROP_SECRET"}, client_auth=authentication)
                self.assertEqual(proofd.curl("/orders/?n=[1-10]"), {"200": 10})

    def test_an_answer_that_was_lost_within_the_grace_period(self):
        self.start_server(grace_seconds=GRACE_SECONDS)
        self.client.expect_tokens(grant_type="refresh_token", refresh_token=self.tokens["refresh_token"])
        proofd = self.start_proofd()
        self.assertEqual(proofd.curl("/orders/?n=[1-10]"), {"200": 10})

    def test_an_import_that_comes_too_late_is_refused(self):
        self.start_server()
        self.client.expect_tokens(grant_type="refresh_token", refresh_token=self.tokens["refresh_token"])
        with self.assertRaisesRegex(RuntimeError, "invalid_grant|does not take the refresh token"):
            self.start_proofd()

    def test_a_refresh_token_that_somebody_else_used(self):
        """It ends the whole family and its access token: proofd passes that on or asks for a login, and keeps all."""
        self.start_server()
        proofd = self.start_proofd()
        self.client.token(grant_type="refresh_token", refresh_token=self.tokens["refresh_token"])
        issued = self.django.refresh_tokens
        for _ in range(3):
            self.assertIn(requests.get(f"{proofd.url}/orders/", timeout=20).status_code, (401, 511))
        self.assertEqual(self.django.refresh_tokens, issued)
        tokens = [record["status"] for record in proofd.records(event="oauth") if record["target"] == "/o/token/"]
        self.assertEqual(tokens, [200, 400])  # the import, and one try
        self.assertIn(b"login_required", proofd.verb("status").stdout)
        self.assertIn(b"alice", proofd.verb("credentials", "list").stdout)


if __name__ == "__main__":
    unittest.main()
