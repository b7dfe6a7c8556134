"""canaille (PyPI) as an OpenID provider on 127.0.0.1: login and consent pages, dynamic registration, private_key_jwt,
and userinfo as a Bearer API.

Its quirks: a refresh token ends together with the access token beside it; one that was used is refused, but its
successor lives on; the answer of a login and that of a refresh give different lifetimes unless all are set.

Run as a program, this file is the server: canaille_server.py PORT SECONDS
"""

import sys

import requests

from harness import free_port
from logins import REDIRECT_URI, Person

USER, PASSWORD = "alice", "alice-password"
SCOPE = "openid profile"


class Canaille:
    def __init__(self, stage, token_seconds):
        port = free_port()
        self.issuer = f"http://127.0.0.1:{port}"
        child = stage.start("canaille", [sys.executable, __file__, port, token_seconds])
        child.wait_for("it answers", self.metadata)
        metadata = self.metadata()
        self.authorization_endpoint = metadata["authorization_endpoint"]
        self.token_endpoint = metadata["token_endpoint"]
        self.userinfo_endpoint = metadata["userinfo_endpoint"]
        self.registration_endpoint = metadata["registration_endpoint"]
        self.log = child.output

    def metadata(self):
        try:
            return requests.get(f"{self.issuer}/.well-known/openid-configuration", timeout=5).json()
        except requests.ConnectionError:
            return None

    def register(self, authentication, **more):
        """client_id and client_secret of a new client (RFC 7591)."""
        answer = requests.post(self.registration_endpoint, timeout=10, json={
            "client_name": "proofd", "redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": authentication,
            "grant_types": ["authorization_code", "refresh_token", "password"], "response_types": ["code"],
            "scope": SCOPE,
        } | more)
        if not answer.ok:
            raise RuntimeError(f"registration: {answer.status_code} {answer.text}")
        return answer.json()["client_id"], answer.json().get("client_secret")

    def visit(self, url):
        return Person(login=USER, password=PASSWORD, answer="accept").visit(url)


def serve(port, token_seconds):
    from canaille import create_app
    from werkzeug.serving import run_simple

    grants = ("authorization_code", "refresh_token", "password", "client_credentials")
    app = create_app(config={
        "SECRET_KEY": "interop" * 6, "SERVER_NAME": f"127.0.0.1:{port}", "PREFERRED_URL_SCHEME": "http",
        "OAUTH2_TOKEN_EXPIRES_IN": dict.fromkeys(grants, token_seconds),
        "CANAILLE": {"DATABASE": "memory"}, "CANAILLE_OIDC": {"DYNAMIC_CLIENT_REGISTRATION_OPEN": True},
    })
    with app.app_context():
        from canaille.app import models
        from canaille.backends import Backend

        Backend.instance.save(models.User(
            user_name=USER, formatted_name="Alice", family_name="Alice", emails=["alice@example.test"],
            password=PASSWORD,
        ))
    run_simple("127.0.0.1", port, app, threaded=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
