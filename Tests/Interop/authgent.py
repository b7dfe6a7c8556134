"""authgent-server (PyPI) as an authorization server on 127.0.0.1: token exchange, JWT bearer, refresh tokens that serve
once, DPoP with nonces.

Its quirks: a nonce is demanded with 401 instead of 400 and comes with no other answer; members without a value are
null; a login needs no person; a refresh token is not bound to the DPoP key.
"""

import http.server
import json
import sys
import threading
import urllib.parse

import requests
from joserfc.jwk import ECKey

from harness import free_port
from logins import REDIRECT_URI

TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class Authgent:
    def __init__(self, stage, token_seconds, exchanged_seconds=5, dpop=False, trusted_issuer=None):
        """dpop: demands proofs with nonces of all. trusted_issuer: whose assertions it takes (RFC 7523)."""
        port = free_port()
        self.issuer = f"http://127.0.0.1:{port}"
        self.authorization_endpoint = f"{self.issuer}/authorize"
        self.token_endpoint = f"{self.issuer}/token"
        child = stage.start(
            "authgent",
            [
                sys.executable, "-m", "uvicorn", "--factory", "authgent_server.app:create_app",
                "--host", "127.0.0.1", "--port", port,
            ],
            environment={
                "AUTHGENT_SECRET_KEY": "6c" * 32, "AUTHGENT_SERVER_URL": self.issuer,
                "AUTHGENT_DATABASE_URL": f"sqlite+aiosqlite:///{stage.directory}/authgent.db",
                "AUTHGENT_REQUIRE_DPOP": dpop, "AUTHGENT_ACCESS_TOKEN_TTL": token_seconds,
                "AUTHGENT_EXCHANGE_TOKEN_TTL": exchanged_seconds, "AUTHGENT_TOKEN_RATE_LIMIT": 100_000,
                "AUTHGENT_REGISTER_RATE_LIMIT": 1000,
                "AUTHGENT_TRUSTED_CHAINING_ISSUERS": json.dumps([trusted_issuer] if trusted_issuer else []),
            },
        )
        child.wait_for("it answers", self.metadata)
        self.jwks_uri = self.metadata()["jwks_uri"]
        self.log = child.output

    def metadata(self):
        try:
            return requests.get(f"{self.issuer}/.well-known/oauth-authorization-server", timeout=5).json()
        except requests.ConnectionError:
            return None

    def register(self, authentication, *grants):
        """client_id and client_secret of a new client (RFC 7591)."""
        answer = requests.post(f"{self.issuer}/register", timeout=10, json={
            "client_name": "proofd", "grant_types": grants, "redirect_uris": [REDIRECT_URI],
            "scope": "api:read api:write", "token_endpoint_auth_method": authentication,
        })
        if not answer.ok:
            raise RuntimeError(f"registration: {answer.status_code} {answer.text}")
        return answer.json()["client_id"], answer.json()["client_secret"]

    def visit(self, url):
        answer = requests.get(url, allow_redirects=False, timeout=10)
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["Location"]).query))


class AssertionIssuer:
    """Somebody whose assertions authgent takes (RFC 7523 §2.1): shows its public key where authgent looks for it."""

    key_id = "interop-1"

    def __init__(self, stage):
        key = ECKey.generate_key("P-256", {"kid": self.key_id, "use": "sig", "alg": "ES256"})
        self.private_key = stage.write("issuer.pem", key.as_pem(private=True).decode())
        keys = json.dumps({"keys": [key.as_dict(private=False)]}).encode()

        class Keys(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(keys)

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Keys)
        self.issuer = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stage.addCleanup(server.server_close)
        stage.addCleanup(server.shutdown)
