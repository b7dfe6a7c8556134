#!/usr/bin/env python3
"""Looks for every secret of many accounts in all that proofd leaves behind: the store and what SQLite keeps beside it,
temporary files, the log, whatever a verb or the admin API says, arguments and environments of children; also where it was
killed in the middle of a write, and of an account that was removed."""

import base64
import contextlib
import json
import pathlib
import re
import subprocess
import time
import unittest
import urllib.parse

import sealed_store
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from harness import PROOFD, Proofd, Simulator, Stage, result, wait_until
from secrets_scan import Scan, descendants

CRASHING = pathlib.Path(PROOFD).with_name("CrashingProofd")
PASSWORD, PASSPHRASE = "at-rest-password-5f2c7a", "at-rest passphrase 9b31d4 of several words"
FROM_COMMAND, FROM_ENVIRONMENT = "at-rest-command-secret-77e0c1", "at-rest-environment-secret-1d9f3b"
ACCOUNTS = [f"acme/a{number}" for number in range(6)]
FORM_SECRETS = ("refresh_token", "password", "client_secret", "client_assertion", "assertion", "subject_token")


def scalar(key):
    return key.private_numbers().private_value.to_bytes(32, "big")


class AtRest(Stage):
    def setUp(self):
        super().setUp()
        self.simulator = Simulator(self, nonces="once", token_seconds=4)
        self.signing = ec.generate_private_key(ec.SECP256R1())
        numbers = self.signing.public_key().public_numbers()
        coordinate = lambda number: base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()
        jwk = {"kty": "EC", "crv": "P-256", "x": coordinate(numbers.x), "y": coordinate(numbers.y)}
        self.simulator.set(authorization_server={
            "users": [{"username": "ann", "password": PASSWORD}], "clients": [
                {"id": "svc", "secret": self.simulator.client_secret},
                {"id": "signer", "keys": [jwk]}],
        })
        self.temporary = self.directory / "tmp"
        self.outside = self.directory / "outside"  # what is not proofd's: secrets it is given, what a child recorded
        for folder in (self.temporary, self.outside):
            folder.mkdir(mode=0o700)
        self.outputs = {}
        self.known = {
            "client secret": self.simulator.client_secret, "password": PASSWORD, "passphrase": PASSPHRASE,
            "from a command": FROM_COMMAND, "from the environment": FROM_ENVIRONMENT, "signing key": scalar(self.signing),
        }
        self.sealed = {}  # by grant: what was ever seen of its sealed fields

    # MARK: What runs

    def outside_file(self, name, text, mode=0o600):
        path = self.outside / name
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    def credentials(self):
        key = self.signing.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
        given = self.outside_file("given", FROM_COMMAND + "\n")
        self.children = self.outside / "children"
        command = self.outside_file("command", (
            "#!/bin/sh\n"
            f'tr "\\0" "\\n" </proc/$$/environ >>{self.children}; tr "\\0" "\\n" </proc/$$/cmdline >>{self.children}\n'
            f"sleep 0.4; cat {given}\n"), mode=0o700)
        login = self.simulator.credential(grant="authorization_code", scope="openid offline_access", allow_export=True)
        signer = {"client_id": "signer", "client_auth": "private_key_jwt", "private_key": {"file": self.outside_file("key", key)}}
        signer = {name: value for name, value in self.simulator.credential().items() if name != "client_secret"} | signer
        return {
            "acme": login,
            "archive": self.simulator.credential(
                grant="password", username="ann", password={"file": self.outside_file("password", PASSWORD)},
                scope="openid offline_access"),
            "partner": signer | {
                "grant": "jwt_bearer", "signed_assertion": {"subject": "batch", "private_key": signer["private_key"]}},
            "ledger": self.simulator.credential(grant="token_exchange", subject_credential="acme/a0"),
            "machine": self.simulator.credential(),
            "legacy": {"provider": "static", "token": {"command": [command, "--for", "legacy"]}, "reread": "1s"},
            "plain": {"provider": "static", "header": "X-Key", "token": {"env": "PLAIN_KEY"}},
        }

    def routes(self):
        route = lambda path, credential, **more: {
            "path": path, "upstream": self.simulator.api, "credential": credential} | more
        routes = {f"r{index}": route(f"/{name}", name) for index, name in enumerate(ACCOUNTS)}
        routes |= {
            f"scoped{index}": route(f"/scoped/{name}", name, scope="openid") for index, name in enumerate(ACCOUNTS[:3])}
        return routes | {name: route(f"/{name}", name) for name in self.names if name != "acme"}

    def serve(self, **settings):
        credentials = self.credentials()
        self.names = list(credentials)
        self.proofd = Proofd(
            self, credentials, self.routes(),
            self.simulator.environment | {"PLAIN_KEY": FROM_ENVIRONMENT, "TMPDIR": self.temporary}, **settings)
        self.home = self.proofd.log.parent
        self.store = self.home / "state" / "credentials.sqlite"
        self.children_seen = Scan(self.known)
        # As it is at work: what has more rights than its children need not be kept from looking.
        limits = pathlib.Path(f"/proc/{self.proofd.child.process.pid}/limits").read_text()
        self.assertRegex(limits, re.compile(r"^Max core file size +0 +0 ", re.MULTILINE))

    def verb(self, *words, stdin="", shown=True, code=0):
        finished = self.proofd.verb(*words, "--config", self.proofd.settings, stdin=stdin)
        self.assertEqual(finished.returncode, code, (words, finished.stderr))
        output = finished.stderr + (finished.stdout if shown else b"")
        name = "proofd " + " ".join(words[:2])
        self.outputs[name] = self.outputs.get(name, b"") + output
        return finished.stdout

    def seed(self, **more):
        [grant] = self.simulator.seed_grants(1, subject="user-7", key=True, scope="openid offline_access", **more)
        key = serialization.load_pem_private_key(grant["private_key"].encode(), None)
        number = grant["grant"]
        self.known |= {
            f"refresh token of {number}": grant["refresh_token"], f"ID token of {number}": grant["id_token"],
            f"proof key of {number}": scalar(key)}
        return json.dumps({
            "refresh_token": grant["refresh_token"], "id_token": grant["id_token"], "proof_key": grant["private_key"],
            "scope": "openid offline_access", "client_id": "svc", "issuer": self.simulator.authorization_server})

    def request_everything(self, expect="200"):
        for path in [f"/{name}" for name in ACCOUNTS] + [f"/scoped/{name}" for name in ACCOUNTS[:3]]:
            self.assertEqual(self.proofd.curl(path + "/echo"), {expect: 1}, path)
        for name in self.names[1:]:
            self.proofd.curl(f"/{name}/echo")
            self.look_at_children()

    def look_at_children(self):
        """While they run: their arguments and environments as anybody with the right to sees them."""
        daemon = self.proofd.child.process.pid
        command_line = lambda pid: pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        for pid in descendants(daemon):
            with contextlib.suppress(OSError):  # it has ended
                # Until it has become another program, what it shows is the daemon's own.
                if command_line(pid) != command_line(daemon):
                    self.children_seen.process(pid)

    def ask_admin(self, path):
        finished = self.run_command(
            "curl", "--silent", "--include", "--unix-socket", self.home / "proofd" / "control.sock", f"http://proofd{path}")
        self.outputs[f"admin API {path}"] = finished.stdout
        return finished.stdout

    # MARK: What is secret

    def learn(self, key):
        """Takes note of what the store holds now, under its seals and above them."""
        for name, secret in sealed_store.secrets(self.store, key).items():
            if name.endswith("proof_key"):
                secret = scalar(serialization.load_der_private_key(secret, None))
            if secret not in self.known.values():
                self.known[f"{name}, {len(self.known)}"] = secret
        with sealed_store.connect(self.store) as database:
            for table, identity in (("grants", "id"), ("tokens", "grant_id")):
                for column in sealed_store.SEALED_COLUMNS[table]:
                    for grant, sealed in database.execute(
                        f"SELECT {identity}, {column} FROM {table} WHERE {column} IS NOT NULL"
                    ):
                        self.sealed.setdefault(grant, set()).add(sealed)

    def learn_from_simulator(self):
        for entry in self.simulator.journal():
            number = entry["sequence"]
            body = urllib.parse.parse_qs((entry["body"] or {}).get("text", ""))
            for name in FORM_SECRETS:
                for value in body.get(name, []):
                    self.known.setdefault(f"{name} in request {number}", value)
        self.known |= {f"sent, {index}": secret for index, secret in enumerate(sorted(self.simulator.secrets()))}

    def scan(self, *paths, less=()):
        """Everything but what keeps secrets by its nature."""
        scan = Scan({name: secret for name, secret in self.known.items() if len(secret) >= 8 and name not in less})
        for path in paths:
            scan.path(path)
        for name, output in self.outputs.items():
            scan.bytes(name, output)
        self.assertEqual(scan.findings, [])
        self.assertEqual(scan.unreadable, [])
        return scan

    def everything_but_the_key(self):
        """The files of proofd's home; not the key file, which is looked at by itself."""
        for path in sorted(self.home.rglob("*")):
            if path.is_file() and path.name != "store.key":
                yield path

    # MARK: Tests

    def test_a_life_of_many_accounts_leaves_no_secret_anywhere(self):
        self.serve()
        tail = self.start("tail", [PROOFD, "tail", "--json"], self.proofd.environment)
        for index, name in enumerate(ACCOUNTS):
            self.verb("credentials", "import", name, *([] if index else ["--tag", "first"]), stdin=self.seed())
        key = sealed_store.key_of_file(self.home / "proofd" / "store.key")
        self.known["store key"] = key
        rotations = lambda: min(grant["refreshes"] for grant in self.simulator.grants().values())
        deadline = time.monotonic() + 30
        while rotations() < 4 and time.monotonic() < deadline:
            self.request_everything()
            self.learn(key)
        self.assertGreaterEqual(rotations(), 4)
        self.every_verb()
        for path in ("status", "routes", "records?last=1000", "accounts", "accounts/acme%2Fa1", "accounts/acme%2Fa1/identity",
                     "accounts/nobody", "lock"):
            self.ask_admin(f"/v1/{path}")
        self.learn(key)
        while_it_runs = [path for path in self.everything_but_the_key()]
        self.assertIn("credentials.sqlite-wal", [path.name for path in while_it_runs])
        self.learn_from_simulator()
        self.scan(*while_it_runs, self.temporary)
        self.children_say_nothing()
        self.remove(key)
        self.assertEqual(self.proofd.child.stop(), 0)
        self.outputs["tail"] = tail.output().encode()
        tail.stop()
        self.outputs["serve"] = self.proofd.child.output().encode()
        for name in ("tail", "proofd status", "proofd credentials show", "admin API /v1/records?last=1000"):
            self.assertGreater(len(self.outputs[name]), 200, name)
        self.learn_from_simulator()
        scan = self.scan(*self.everything_but_the_key(), self.temporary)
        self.assertGreater(len(self.known), 80)
        result(f"{len(self.known)} secrets, {scan.seen} bytes of files and output: none found")

    def every_verb(self):
        self.verb("status")
        self.verb("status", "--json")
        self.verb("credentials", "list")
        self.verb("credentials", "list", "--json")
        for name in ACCOUNTS[:2]:
            self.verb("credentials", "show", name)
            self.verb("credentials", "show", name, "--json")
            self.verb("whoami", name)
            token = self.verb("token", name, shown=False).decode().strip()
            self.known[f"token of {name}"] = token
            self.verb("headers", name, "--url", f"{self.simulator.api}/echo", shown=False)
        self.verb("credentials", "default", "acme/a1")
        self.verb("credentials", "tag", "acme/a1", "--add", "work")
        self.verb("credentials", "find", "--tag", "work")
        self.verb("credentials", "import", "acme/a0", stdin=self.seed(), code=1)
        self.verb("credentials", "import", "acme/a5", "--replace", stdin=self.seed())
        self.verb("tail", "--json", "-n", "1000", "--no-follow")
        self.verb("routes")
        self.verb("check")
        self.verb("lock", code=2)
        wrong = "at-rest-token-nobody-issued-41c9"
        self.known["refused refresh token"] = wrong
        self.verb("credentials", "import", "acme/a9", stdin=wrong, code=1)

    def children_say_nothing(self):
        """What the command itself recorded, and what was seen of it while it ran."""
        recorded = self.children.read_bytes()
        self.assertIn(b"\n--for\nlegacy\n", recorded)
        self.assertIn(b"TMPDIR=", recorded)
        scan = Scan({name: secret for name, secret in self.known.items() if len(secret) >= 8})
        scan.bytes("what the command saw of itself", recorded)
        scan.file(f"/proc/{self.proofd.child.process.pid}/cmdline")
        self.assertEqual(scan.findings + self.children_seen.findings, [])

    def remove(self, key):
        """Of a removed account nothing is left, neither under a seal nor in the clear."""
        with sealed_store.connect(self.store) as database:
            [(gone,)] = database.execute("SELECT id FROM grants WHERE account = 'a3'")
            [(kept,)] = database.execute("SELECT id FROM grants WHERE account = 'a2'")
        self.assertGreater(len(self.sealed[gone]), 12)
        # The state directory and the database, before: the test can find what it looks for.
        there = lambda grant: [
            path.name for path in sorted(self.store.parent.rglob("*")) if path.is_file()
            and any(sealed in path.read_bytes() for sealed in [*self.sealed[grant], grant.encode()])]
        self.learn(key)
        self.assertNotEqual(there(gone), [])
        self.verb("credentials", "remove", "acme/a3", "--yes")
        self.assertEqual(there(gone), [])
        self.assertNotEqual(there(kept), [])
        # A request for it brings nothing of it back.
        self.assertEqual(self.proofd.curl("/acme/a3/echo"), {"511": 1})
        self.assertEqual(there(gone), [])

    def test_a_store_with_a_passphrase_holds_neither_it_nor_what_it_opens(self):
        self.serve(store={"key": "passphrase"})
        self.verb("unlock", "--passphrase-stdin", stdin=PASSPHRASE + "\n")
        for name in ACCOUNTS:
            self.verb("credentials", "import", name, stdin=self.seed())
        self.assertEqual(list(self.home.rglob("store.key")), [])
        key = sealed_store.key_of_passphrase(self.store, PASSPHRASE)
        self.known["key of the passphrase"] = key
        for _ in range(2):
            self.request_everything()
            self.learn(key)
            self.verb("lock")
            self.assertEqual(self.proofd.curl("/acme/a1/echo"), {"511": 1})
            self.verb("status", code=3)
            self.verb("credentials", "list", "--json")
            wrong = "at-rest passphrase that is wrong"
            self.known["wrong passphrase"] = wrong
            self.verb("unlock", "--passphrase-stdin", stdin=wrong + "\n", code=3)
            self.verb("unlock", "--passphrase-stdin", stdin=PASSPHRASE + "\n")
            wait_until("it serves", lambda: self.proofd.curl("/acme/a1/echo") == {"200": 1})
        self.learn(key)
        self.children_say_nothing()
        self.proofd.child.stop()
        self.verb("token", "acme/a1", "--passphrase-stdin", stdin=PASSPHRASE + "\n", shown=False)
        self.learn(key)
        self.learn_from_simulator()
        self.outputs["serve"] = self.proofd.child.output().encode()
        self.scan(*self.everything_but_the_key(), self.temporary)

    def test_what_a_kill_in_the_middle_of_a_write_leaves_holds_no_secret(self):
        steps = ["uncommitted", "committed", "intended", "answered", "storing", "stored"]
        for step in steps:
            with self.subTest(step):
                self.killed_at(step)

    @staticmethod
    def ask(address):
        subprocess.run(
            ["curl", "--silent", "--noproxy", "*", "--max-time", "1", f"{address}/acme/a0/echo"], capture_output=True,
            check=False)

    def killed_at(self, step):
        self.serve()
        self.verb("credentials", "import", "acme/a0", stdin=self.seed())
        key = sealed_store.key_of_file(self.home / "proofd" / "store.key")
        self.learn(key)
        self.proofd.child.stop()
        settings = json.loads(self.proofd.settings.read_text())
        writes_at_once = step in ("uncommitted", "committed")
        if writes_at_once:  # nobody but the import below shall write
            settings |= {"routes": {}, "credentials": {"acme": settings["credentials"]["acme"]}}
        daemon = self.start(
            f"crashing-{step}", [CRASHING, "serve", "--config", self.write(f"{step}.yaml", settings)],
            self.proofd.environment | {"PROOFD_CRASH_AT": step})
        url = re.compile(r"http://127\.0\.0\.1:\d+")
        address = daemon.wait_for("it listens", lambda: url.search(daemon.out.read_text()))[0]
        if writes_at_once:
            self.proofd.verb(
                "credentials", "import", "acme/a1", "--offline", "--config", self.proofd.settings, stdin=self.seed())
        else:  # the stored token is soon too old, and renewed for a request
            wait_until("it is killed", lambda: (self.ask(address), not daemon.running)[1])
        self.assertEqual(daemon.process.wait(20), -9)
        self.outputs[daemon.name] = daemon.output().encode()
        files = list(self.everything_but_the_key())
        self.assertIn("credentials.sqlite-wal", [path.name for path in files])
        self.learn_from_simulator()
        self.known |= {"store key": key}
        left = Scan({name: secret for name, secret in self.known.items() if len(secret) >= 8})
        for path in files:
            left.file(path)
        self.scan(self.temporary)
        self.assertEqual(left.findings, [])
        self.assertEqual(list(self.directory.rglob("core*")), [])
        self.learn(key)  # and the next one opens what is left, with what came of the write
        self.scan(*self.everything_but_the_key())


if __name__ == "__main__":
    unittest.main()
