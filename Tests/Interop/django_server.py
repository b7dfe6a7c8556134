"""django-oauth-toolkit with an API of Django REST framework behind it (PyPI) on 127.0.0.1.

Refresh tokens rotate; one that comes again, after the grace period, ends its whole family. A rotation also ends the old
access token at once, so requests under way meet a 401. An ended access token gets `Bearer error="invalid_token"`.
"""

import contextlib
import pathlib
import sqlite3
import sys

import requests

from harness import free_port
from logins import Person

USER, PASSWORD = "alice", "alice-password"
PUBLIC_CLIENT, CLIENT_ID, CLIENT_SECRET = "proofd-public", "proofd-confidential", "interop-client-secret-51c2"
SCOPE = "openid api:read"


class DjangoServer:
    def __init__(self, stage, token_seconds=300, grace_seconds=0):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.issuer = f"{self.url}/o"
        self.authorization_endpoint = f"{self.issuer}/authorize/"
        self.token_endpoint = f"{self.issuer}/token/"
        self.api = f"{self.url}/orders"
        folder = stage.directory / "django"
        folder.mkdir()
        self.database = folder / "django.db"
        project = pathlib.Path(__file__).with_name("django_project.py")
        child = stage.start("django", [sys.executable, project, port, folder, token_seconds, grace_seconds])
        child.wait_for("it answers", self.metadata)

    def metadata(self):
        try:
            return requests.get(f"{self.issuer}/.well-known/openid-configuration", timeout=5).json()
        except requests.ConnectionError:
            return None

    def visit(self, url):
        return Person(username=USER, password=PASSWORD, allow="Authorize").visit(url)

    def end_access_tokens(self):
        """Lets all of them be over from now on, long before the time proofd was told."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute("UPDATE oauth2_provider_accesstoken SET expires = '2000-01-01 00:00:00'")

    @property
    def refresh_tokens(self):
        """How many it has issued: one for each login, and one more for each refresh."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            return connection.execute("SELECT count(*) FROM oauth2_provider_refreshtoken").fetchone()[0]
