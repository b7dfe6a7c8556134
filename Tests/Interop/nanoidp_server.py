"""nanoidp (PyPI) as an OpenID provider on 127.0.0.1: a login page, JWTs of 1 kB as refresh tokens, userinfo as a Bearer
API.

Its quirks: reuse of a refresh token that served ends the whole family, but nothing else of it; an answer may omit the
refresh token; userinfo refuses with 401 and no WWW-Authenticate; every answer closes the connection.
"""

import pathlib
import sys

import requests
import yaml

from harness import free_port
from logins import REDIRECT_URI, Person

USER, PASSWORD = "alice", "alice-password"
PUBLIC_CLIENT, CLIENT_ID, CLIENT_SECRET = "proofd-public", "proofd-confidential", "interop-client-secret-93ad"
SCOPE = "openid profile email"


class Nanoidp:
    def __init__(self, stage, profile="oauth21"):
        """profile: oauth21 rotates refresh tokens, dev does so for public clients only."""
        port = free_port()
        self.issuer = f"http://127.0.0.1:{port}"
        self.authorization_endpoint = f"{self.issuer}/authorize"
        self.token_endpoint = f"{self.issuer}/token"
        self.userinfo_endpoint = f"{self.issuer}/userinfo"
        folder = stage.directory / "nanoidp"
        folder.mkdir()
        (folder / "settings.yaml").write_text(yaml.safe_dump(settings(port, self.issuer, folder)))
        user = {"password": PASSWORD, "email": "alice@example.test", "roles": ["USER"], "tenant": "default"}
        (folder / "users.yaml").write_text(yaml.safe_dump({"config_version": 1, "users": {USER: user}}))
        program = pathlib.Path(sys.executable).with_name("nanoidp")
        child = stage.start("nanoidp", [program, "--config", folder, "--profile", profile, "--strict-config"])
        child.wait_for("it answers", self.metadata)
        self.log = child.output

    def metadata(self):
        try:
            return requests.get(f"{self.issuer}/.well-known/openid-configuration", timeout=5).json()
        except requests.ConnectionError:
            return None

    def visit(self, url):
        return Person(username=USER, password=PASSWORD).visit(url)


def settings(port, issuer, folder):
    return {
        "config_version": 1,
        "server": {"host": "127.0.0.1", "port": port},
        "jwt": {"keys_dir": str(folder / "keys")},
        "oauth": {
            "issuer": issuer, "audience": "interop", "token_expiry_minutes": 1,
            "clients": [
                {
                    "client_id": PUBLIC_CLIENT, "token_endpoint_auth_method": "none",
                    "redirect_uris": [REDIRECT_URI],
                },
                {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "redirect_uris": [REDIRECT_URI]},
            ],
        },
    }
