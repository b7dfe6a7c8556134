#!/usr/bin/env python3
"""proofd between curl and an API of Django REST framework, with django-oauth-toolkit as its authorization server: a token
that ends early is replaced, and the request replayed, before the client learns of it.
"""

import unittest

import requests
from django_server import CLIENT_ID, CLIENT_SECRET, PUBLIC_CLIENT, SCOPE, DjangoServer
from harness import Stage
from logins import Client

GRACE_SECONDS = 30


class DjangoToolkit(Stage):
    def start_server(self, **settings):
        self.django = DjangoServer(self, **settings)
        self.client = Client(self.django, PUBLIC_CLIENT)
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


if __name__ == "__main__":
    unittest.main()
