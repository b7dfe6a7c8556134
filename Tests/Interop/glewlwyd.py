"""glewlwyd (Debian) as an authorization server on 127.0.0.1: client credentials, the code flow with refresh tokens that
serve once, DPoP with nonces, JWT access tokens.

A nonce belongs to a client, at the token endpoint and at userinfo alike, and is replaced in the answer to its third
use. userinfo, a DPoP-protected API, knows users: it answers a client's own token with 404 before it looks at proof and
nonce.
"""

import contextlib
import pathlib
import sqlite3
import urllib.parse

import requests
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from harness import free_port
from logins import REDIRECT_URI

CLIENT_ID, CLIENT_SECRET, SCOPE = "proofd-interop", "interop-client-secret-4b1d", "api:read"
LOGIN_CLIENT_ID, LOGIN_SCOPE = "proofd-login", "openid api:read offline_access"  # a public client
USER, PASSWORD = "alice", "alice-password"
SCHEMA = pathlib.Path("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3")


class Glewlwyd:
    def __init__(self, stage, token_seconds):
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        self.issuer = f"{self.base}/api/oidc"
        self.token_endpoint = f"{self.issuer}/token"
        self.authorization_endpoint = f"{self.issuer}/auth"
        self.userinfo_endpoint = f"{self.issuer}/userinfo"
        self.jwks_uri = f"{self.issuer}/jwks"
        self.database = stage.directory / "glewlwyd.db"
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            connection.executescript(SCHEMA.read_text())
        settings = stage.write("glewlwyd.conf", configuration(port, self.base, self.database, stage.directory))
        child = stage.start("glewlwyd", ["glewlwyd", f"--config-file={settings}"])
        child.wait_for("it answers", lambda: answers(f"{self.base}/config"))
        self._configure(token_seconds)

    def _configure(self, token_seconds):
        admin = requests.Session()

        def call(method, path, value=None):
            response = admin.request(method, f"{self.base}/api{path}", json=value, timeout=10)
            if response.status_code >= 400:
                raise RuntimeError(f"glewlwyd: {method} {path}: {response.status_code} {response.text}")
            return response

        cookie = call("POST", "/auth/", {"username": "admin", "password": "password"}).headers["Set-Cookie"]
        admin.headers["Cookie"] = cookie.split(";")[0]  # the cookie jar refuses it for an address
        for scope in (SCOPE, "offline_access"):
            call("POST", "/scope/", {
                "name": scope, "display_name": scope, "description": scope, "password_required": scope == SCOPE,
                "password_max_age": 0, "scheme": {},
            })
        call("POST", "/user/", {
            "username": USER, "name": "Alice", "email": "alice@example.test", "password": PASSWORD, "enabled": True,
            "scope": ["g_profile", *LOGIN_SCOPE.split()],
        })
        # The database of clients keeps only the properties its format lists.
        clients = call("GET", "/mod/client/database").json()
        clients["parameters"]["data-format"]["dpop_bound_access_tokens"] = {
            "multiple": False, "read": True, "write": True,
        }
        call("PUT", "/mod/client/database", clients)
        call("POST", "/mod/plugin/", {
            "module": "oidc", "name": "oidc", "display_name": "oidc", "parameters": self._plugin(token_seconds),
        })
        call("POST", "/client/", {
            "client_id": CLIENT_ID, "name": CLIENT_ID, "enabled": True, "confidential": True,
            "client_secret": CLIENT_SECRET, "scope": [SCOPE], "authorization_type": ["client_credentials"],
            "redirect_uri": ["http://127.0.0.1/"], "dpop_bound_access_tokens": "1",
            "token_endpoint_auth_method": ["client_secret_basic", "client_secret_post"],
        })
        call("POST", "/client/", {
            "client_id": LOGIN_CLIENT_ID, "name": LOGIN_CLIENT_ID, "enabled": True, "confidential": False,
            "scope": [], "authorization_type": ["code", "refresh_token"], "redirect_uri": [REDIRECT_URI],
            "dpop_bound_access_tokens": "1", "token_endpoint_auth_method": ["none"],
        })

    def _plugin(self, token_seconds):
        key = signing_key()
        off = dict.fromkeys([
            "auth-type-token-enabled", "auth-type-id-token-enabled", "auth-type-none-enabled",
            "auth-type-password-enabled", "auth-type-device-enabled", "introspection-revocation-allowed",
            "register-client-allowed", "session-management-allowed", "request-parameter-allow", "oauth-par-allowed",
            "resource-allowed", "pkce-method-plain-allowed",
        ], False)
        return off | {
            "iss": self.issuer, "jwks-show": True, "jwt-type": "ecdsa", "jwt-key-size": "256",
            "key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
            "cert": key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
            "access-token-duration": token_seconds, "refresh-token-duration": 3600, "code-duration": 600,
            "refresh-token-rolling": True, "refresh-token-one-use": "always", "allow-non-oidc": True,
            "auth-type-client-enabled": True, "auth-type-code-enabled": True, "auth-type-refresh-enabled": True,
            "auth-type-code-revoke-replayed": True, "pkce-allowed": True, "pkce-required": True,
            "oauth-dpop-allowed": True, "oauth-dpop-iat-duration": 60, "oauth-dpop-iat-gap-duration": 5,
            "oauth-dpop-dpop_bound_access_tokens-property": "dpop_bound_access_tokens",
            "oauth-dpop-nonce-mandatory": True, "oauth-dpop-nonce-counter": 3,
            "scope": [{"name": "offline_access", "refresh-token-rolling": True}],
        }

    @property
    def refresh_tokens(self):
        """How many it has issued: one for each login, and one more for each refresh."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            return connection.execute("SELECT count(*) FROM gpo_refresh_token").fetchone()[0]

    def visit(self, url):
        """The user's browser: signed in, and in consent with what the client asks for."""
        browser = requests.Session()
        signed_in = browser.post(f"{self.base}/api/auth/", json={"username": USER, "password": PASSWORD}, timeout=10)
        browser.headers["Cookie"] = signed_in.headers["Set-Cookie"].split(";")[0]
        consent = f"{self.base}/api/auth/grant/{LOGIN_CLIENT_ID}"
        browser.put(consent, json={"scope": LOGIN_SCOPE}, timeout=10).raise_for_status()
        answer = browser.get(f"{url}&g_continue", allow_redirects=False, timeout=10)
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.headers["Location"]).query))


def signing_key():
    """A key whose coordinates have no zero in front: glewlwyd's JWKS leaves it out, and Apache takes no shorter one."""
    while True:
        key = ec.generate_private_key(ec.SECP256R1())
        point = key.public_key().public_numbers()
        if min(point.x, point.y) >> 248:
            return key


def answers(url):
    try:
        return requests.get(url, timeout=1).ok
    except requests.ConnectionError:
        return False


def configuration(port, base, database, directory):
    return f"""
port={port}
bind_address="127.0.0.1"
external_url="{base}"
login_url="login.html"
api_prefix="api"
log_mode="file"
log_level="INFO"
log_file="{directory}/glewlwyd.log"
cookie_secure=0
session_expiration=2419200
session_key="GLEWLWYD2_SESSION_ID"
admin_session_authentication="cookie"
profile_session_authentication="cookie"
login_api_enabled=true
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="/usr/lib/glewlwyd/user"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
hash_algorithm="SHA512"
static_files_path="/usr/share/glewlwyd/webapp/"
database = {{ type = "sqlite3"; path = "{database}"; }};
"""
