"""How the drivers get a login at a server nobody here wrote: a person in a browser, the code flow with PKCE, and what
comes of it as `proofd credentials import` reads it.
"""

import base64
import hashlib
import json
import secrets
import time
import urllib.parse

import requests
from bs4 import BeautifulSoup
from requests_oauth2client import DPoPKey

REDIRECT_URI = "http://127.0.0.1:53111/callback"  # nobody listens there: the browser stops before it
STEPS_MAX = 12


class Person:
    """Someone with a browser who follows redirects and fills in forms, with `answers` where a field's name is known."""

    def __init__(self, **answers):
        self.browser = requests.Session()
        self.answers = answers

    def visit(self, url):
        """Where the redirect URI is called with what the authorization server has to say."""
        response = self.browser.get(url, allow_redirects=False, timeout=10)
        for _ in range(STEPS_MAX):
            if response.is_redirect:
                url = urllib.parse.urljoin(response.url, response.headers["Location"])
                if url.startswith(REDIRECT_URI):
                    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
                response = self.browser.get(url, allow_redirects=False, timeout=10)
            else:
                response = self.submit(response)
        raise RuntimeError(f"no end of pages at {response.url}")

    def submit(self, page):
        form = BeautifulSoup(page.text, "html.parser").find("form")
        if form is None:
            raise RuntimeError(f"{page.url}: {page.status_code} and no form: {page.text[:500]}")
        values = {}
        for field in form.find_all(["input", "button", "textarea"]):
            name = field.get("name")
            if name and (name in self.answers or field.get("type") not in ("submit", "checkbox")):
                values[name] = self.answers.get(name, field.get("value", ""))
        action = urllib.parse.urljoin(page.url, form.get("action") or page.url)
        return self.browser.post(action, data=values, allow_redirects=False, timeout=10)


class Client:
    """A client of an authorization server: what proofd will be, before proofd takes over its login."""

    def __init__(self, server, authentication, dpop=False):
        """server: has an `authorization_endpoint` and a `token_endpoint`."""
        self.server, self.authentication, self.client_id = server, authentication, authentication.client_id
        self.key = DPoPKey.generate(alg="ES256") if dpop else None
        self.nonce = None

    def log_in(self, visit, scope):
        """The answer of the token endpoint. visit: calls up a URL as the user; gives what the redirect URI gets."""
        verifier = secrets.token_urlsafe(32)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        question = {
            "response_type": "code", "client_id": self.client_id, "redirect_uri": REDIRECT_URI, "scope": scope,
            "state": secrets.token_urlsafe(8), "nonce": secrets.token_urlsafe(8),
            "code_challenge": challenge, "code_challenge_method": "S256",
        }
        answer = visit(f"{self.server.authorization_endpoint}?{urllib.parse.urlencode(question)}")
        if answer.get("state") != question["state"] or "code" not in answer:
            raise RuntimeError(f"the login gave {answer}")
        return self.expect_tokens(
            grant_type="authorization_code", code=answer["code"], code_verifier=verifier, redirect_uri=REDIRECT_URI,
        )

    def token(self, **form):
        """One token request, sent again when the answer asks for a nonce (RFC 9449 §8)."""
        for _ in range(2):
            response = requests.post(
                self.server.token_endpoint, data=form, auth=self.authentication, headers=self.proof(), timeout=10,
            )
            challenged = "use_dpop_nonce" in response.text
            self.nonce = response.headers.get("DPoP-Nonce", self.nonce)
            if not challenged:
                break
        return response

    def expect_tokens(self, **form):
        response = self.token(**form)
        if response.status_code != 200:
            raise RuntimeError(f"{form['grant_type']}: {response.status_code} {response.text}")
        return response.json()

    def proof(self):
        if not self.key:
            return {}
        return {"DPoP": str(self.key.proof(htm="POST", htu=self.server.token_endpoint, nonce=self.nonce))}

    def import_value(self, tokens, *members):
        """What `proofd credentials import` reads: refresh token, DPoP key, and those `members` of the answer."""
        value = {name: tokens[name] for name in ("refresh_token", *members) if tokens.get(name) is not None}
        if self.key:
            value["dpop_key"] = self.key.private_key.to_dict()
        return value


def import_grant(proofd, name, value):
    """`proofd credentials import NAME`, with the grant on its standard input."""
    finished = proofd.verb("credentials", "import", name, stdin=json.dumps(value))
    if finished.returncode != 0:
        raise RuntimeError(f"import: {finished.returncode} {finished.stderr.decode()}")


def send_until(test, proofd, target, enough, seconds):
    """Sends ten requests at a time, all of which must succeed, until `enough` of their number so far; that number."""
    deadline, sent = time.monotonic() + seconds, 0
    while not enough(sent):
        test.assertLess(time.monotonic(), deadline, f"after {sent} requests")
        test.assertEqual(proofd.curl(f"{target}?n=[{sent + 1}-{sent + 10}]"), {"200": 10})
        sent += 10
        time.sleep(0.1)
    return sent


def claims_seen(origin):
    """What the access tokens say that reached an origin, each once, in order."""
    fields = [line.partition(": ") for line in origin.heads.splitlines()]
    tokens = dict.fromkeys(value.rpartition(" ")[2] for name, _, value in fields if name.lower() == "authorization")
    return [claims(token) for token in tokens]


def claims(token):
    """What a JWT says; whoever lets it through has verified it."""
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
