#!/usr/bin/env python3
"""Accounts on the command line, with the real program: imports, what is shown, exports, and the lock; with a daemon and
without one."""

import base64
import json
import os
import pty
import select
import subprocess
import unittest

from harness import PROOFD, Simulator, Stage, wait_until, with_environment

OK, FAILED, USAGE, NEEDS_PERSON = 0, 1, 2, 3
PASSPHRASE = "correct horse battery staple"


class Accounts(Stage):
    def setUp(self):
        super().setUp()
        self.simulator = Simulator(self, nonces="once")
        self.home = self.directory / "home"
        self.home.mkdir(mode=0o700)
        self.environment = {
            "HOME": self.home, "XDG_RUNTIME_DIR": self.home, "XDG_CONFIG_HOME": self.home,
        } | self.simulator.environment
        self.secrets = []

    def credentials(self, **more):
        base = self.simulator.credential(grant="authorization_code", allow_export=True, **more)
        return {"acme": base, "shy": base | {"allow_export": False}}

    def configure(self, **settings):
        """The configuration for verbs without a daemon."""
        self.settings = self.write("proofd.yaml", {
            "listen": "127.0.0.1:0", "state": str(self.home / "state"), "credentials": self.credentials(),
            "routes": {"api": {"path": "/api", "upstream": self.simulator.api, "credential": "acme"}},
        } | settings)

    def serve(self):
        self.child = self.start("proofd", [PROOFD, "serve", "--config", self.settings], self.environment)
        self.child.wait_for("it listens", lambda: "listens on" in self.child.out.read_text())

    def proofd(self, *words, text=""):
        finished = subprocess.run(
            [PROOFD, *words, "--config", str(self.settings)], input=text.encode(), capture_output=True, timeout=60,
            env=with_environment(self.environment))
        out, err = finished.stdout.decode(), finished.stderr.decode()
        if words[0] not in ("token", "headers"):
            for secret in self.secrets:
                self.assertNotIn(secret, out + err)
        return finished.returncode, out, err

    def seed(self, **more):
        """A grant of the simulator, as another program would have it."""
        grant = self.simulator.ask("POST", "/grants", {
            "client_id": self.simulator.client_id, "subject": "user-7", "key": True, "email": "ann@example.com",
            "name": "Ann",
        } | more)
        self.secrets.append(grant["refresh_token"])
        return {
            "refresh_token": grant["refresh_token"], "id_token": grant["id_token"], "proof_key": grant["private_key"],
            "scope": "openid offline_access", "client_id": grant["client_id"],
            "issuer": self.simulator.authorization_server,
        }

    def import_(self, account, *words, expect=OK, **more):
        code, out, err = self.proofd("credentials", "import", account, *words, text=json.dumps(self.seed(**more)))
        self.assertEqual(code, expect, err)
        return out + err

    def life_of_an_account(self):
        """Every verb once; the same with a daemon and without."""
        self.assertIn("acme/work", self.import_("acme/work", "--tag", "billing"))
        self.import_("acme/other", "--json", subject="user-8", email="bob@example.com", name="Bob")
        names = lambda *words: [a["name"] for a in json.loads(self.proofd("credentials", *words, "--json")[1])]
        self.assertEqual(sorted(names("list"))[:2], ["acme/other", "acme/work"])
        self.assertEqual(names("find", "ann@"), ["acme/work"])
        self.assertEqual(names("find", "--tag", "billing"), ["acme/work"])
        self.assertEqual(self.proofd("credentials", "find", "nobody")[0], FAILED)

        account = json.loads(self.proofd("credentials", "show", "acme/work", "--json")[1])
        self.assertEqual((account["tags"], account["default"]), (["billing"], True))
        self.assertIn("billing", self.proofd("credentials", "show", "acme/work")[1])
        self.assertEqual(self.proofd("credentials", "default", "acme/other")[0], OK)
        self.assertTrue(json.loads(self.proofd("credentials", "show", "acme/other", "--json")[1])["default"])
        self.assertEqual(self.proofd("credentials", "tag", "acme/work", "--add", "eu", "--remove", "billing")[0], OK)
        self.assertEqual(names("find", "--tag", "eu"), ["acme/work"])

        self.assertRegex(self.proofd("whoami", "acme/work")[1], r"(?m)^email +ann@example\.com$")
        self.assertEqual(json.loads(self.proofd("whoami", "acme", "--json")[1])["name"], "Bob")

        code, token, err = self.proofd("token", "acme/work", "--min-ttl", "60")
        self.assertEqual((code, err), (OK, ""))
        self.assertEqual(token, json.loads(self.proofd("token", "acme/work", "--json")[1])["access_token"] + "\n")
        code, lines, err = self.proofd("headers", "acme/work", "--url", f"{self.simulator.api}/echo")
        self.assertEqual(code, OK, err)
        self.assertEqual(lines.splitlines()[0], f"Authorization: DPoP {token.strip()}")
        self.assertRegex(lines.splitlines()[1], r"^DPoP: [\w-]+\.[\w-]+\.[\w-]+$")

        self.assertEqual(self.proofd("credentials", "remove", "acme/work")[0], USAGE)  # nobody can be asked
        self.assertEqual(self.proofd("credentials", "remove", "acme/work", "--yes")[0], OK)
        code, _, err = self.proofd("credentials", "show", "acme/work")
        self.assertEqual(code, FAILED)
        self.assertIn("acme/work", err)
        self.import_("shy")
        code, out, err = self.proofd("token", "shy")
        self.assertEqual((code, out), (FAILED, ""))
        self.assertIn("allow_export", err)

    def test_the_life_of_an_account_with_a_daemon(self):
        self.configure()
        self.serve()
        self.life_of_an_account()

    def test_the_life_of_an_account_without_a_daemon(self):
        self.configure()
        self.life_of_an_account()

    def test_imports_that_can_not_be(self):
        self.configure()
        self.import_("acme")
        self.assertIn("--replace", self.import_("acme", expect=FAILED))
        self.import_("acme", "--replace")
        grant = self.seed() | {"client_id": "another"}
        self.assertEqual(self.proofd("credentials", "import", "acme/x", text=json.dumps(grant))[0], USAGE)
        refused = {"refresh_token": "not-a-token-of-this-server-1234"}
        code, _, err = self.proofd("credentials", "import", "acme/x", text=json.dumps(refused))
        self.assertEqual(code, FAILED)
        self.assertNotIn(refused["refresh_token"], err)
        self.assertEqual(self.proofd("credentials", "import", "acme/x", "--offline", text=json.dumps(refused))[0], OK)
        self.assertEqual(self.proofd("credentials", "import", "acme/y", text="x" * 300_000)[0], USAGE)
        self.assertEqual(self.proofd("credentials", "import", "nowhere", text="abcdefgh-1234")[0], FAILED)

    def test_files_of_other_programs(self):
        self.configure(credentials={"plain": self.simulator.credential(grant="authorization_code")}, routes={})
        grant = self.simulator.ask("POST", "/grants", {"client_id": self.simulator.client_id, "subject": "user-7"})
        self.secrets.append(grant["refresh_token"])
        agent = self.write("agent.json", {
            "name": "plain", "issuer_url": self.simulator.authorization_server + "/", "client_id": "svc",
            "client_secret": "x", "refresh_token": grant["refresh_token"], "scope": "max",
        }, mode=0o644)
        code, _, err = self.proofd("credentials", "import", "plain", "--from", "oidc-agent", agent)
        self.assertEqual(code, OK, err)
        self.assertIn("other users may read", err)

        from cryptography.fernet import Fernet
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

        grant = self.simulator.ask("POST", "/grants", {"client_id": self.simulator.client_id, "subject": "user-8"})
        self.secrets.append(grant["refresh_token"])
        salt = os.urandom(16)
        key = PBKDF2HMAC(hashes.SHA256(), 32, salt, 100_000).derive(b"mail password")
        sealed = Fernet(base64.urlsafe_b64encode(key)).encrypt(grant["refresh_token"].encode()).decode()
        proxy = self.write("emailproxy.config", "\n".join([
            "[Server setup]", "", "[ann@example.com]", "client_id = svc",
            f"token_salt = {base64.b64encode(salt).decode()}", "token_iterations = 100000", f"refresh_token = {sealed}",
        ]))
        words = ["credentials", "import", "plain/mail", "--from", "email-oauth2-proxy", proxy, "--section",
                 "ann@example.com", "--password-stdin"]
        self.assertEqual(self.proofd(*words, text="wrong\n")[0], FAILED)
        code, _, err = self.proofd(*words, text="mail password\n")
        self.assertEqual(code, OK, err)
        self.assertEqual(self.proofd(*words[:-1], "--replace")[0], USAGE)  # nobody can be asked

    def test_a_store_with_a_passphrase(self):
        self.configure(store={"key": "passphrase"})
        code, _, err = self.proofd("credentials", "import", "acme", text=json.dumps(self.seed()))
        self.assertEqual(code, NEEDS_PERSON)
        self.assertIn("--passphrase-stdin", err)
        code, _, err = self.proofd(
            "credentials", "import", "acme", "--passphrase-stdin", text=f"{PASSPHRASE}\n{json.dumps(self.seed())}")
        self.assertEqual(code, OK, err)
        self.assertEqual(self.proofd("credentials", "list")[0], OK)
        self.assertEqual(self.proofd("token", "acme")[0], NEEDS_PERSON)
        self.assertEqual(self.proofd("token", "acme", "--passphrase-stdin", text=PASSPHRASE + "\n")[0], OK)
        self.assertEqual(self.proofd("unlock", "--passphrase-stdin", text="wrong\n")[0], NEEDS_PERSON)
        code, _, err = self.proofd("unlock", "--passphrase-stdin", text=PASSPHRASE + "\n")
        self.assertEqual((code, err), (OK, "proofd: the passphrase is right; no daemon runs that could stay unlocked\n"))

        self.serve()
        self.assertEqual(self.proofd("status")[0], NEEDS_PERSON)
        self.assertEqual(self.proofd("unlock", "--passphrase-stdin", text=PASSPHRASE + "\n")[0], OK)
        self.assertEqual(self.proofd("token", "acme")[0], OK)
        self.assertEqual(self.proofd("lock")[0], OK)
        self.assertEqual(self.proofd("token", "acme")[0], NEEDS_PERSON)
        for secret in (PASSPHRASE, *self.secrets):
            self.assertNotIn(secret, self.child.output())

    def at_terminal(self, words, conversation):
        """Runs a verb at a terminal of its own: waits for each question and types the answer. Code and all that showed."""
        child, terminal = pty.fork()
        if child == 0:
            os.execvpe(PROOFD, [PROOFD, *words, "--config", str(self.settings)], with_environment(self.environment))
        shown = b""

        def read():
            nonlocal shown
            ready, _, _ = select.select([terminal], [], [], 20)
            if not ready:
                raise TimeoutError(shown)
            try:
                piece = os.read(terminal, 4096)
            except OSError:
                piece = b""
            shown += piece
            return piece

        for question, answer in conversation:
            seen = len(shown)
            while question.encode() not in shown[seen:]:
                self.assertTrue(read(), shown)
            os.write(terminal, answer.encode())
        while read():
            pass
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode(errors="replace")

    def test_what_is_typed_is_not_shown(self):
        self.configure(store={"key": "passphrase"})
        code, shown = self.at_terminal(["unlock"], [("new passphrase", "one two three\r"), ("again", "other words\r")])
        self.assertEqual(code, USAGE)
        code, shown = self.at_terminal(
            ["unlock"], [("new passphrase", PASSPHRASE + "x\x7f\r"), ("again", f"wrong\x15{PASSPHRASE}\r")])
        self.assertEqual(code, OK, shown)
        self.assertNotIn("horse", shown)
        code, shown = self.at_terminal(["unlock"], [("passphrase of", "\x03")])
        self.assertEqual(code, FAILED, shown)
        grant = self.seed()
        code, shown = self.at_terminal(
            ["credentials", "import", "acme", "--offline"],
            [("refresh token", grant["refresh_token"] + "\r"), ("passphrase of", PASSPHRASE + "\r")])
        self.assertEqual(code, OK, shown)
        self.assertNotIn(grant["refresh_token"], shown)
        code, shown = self.at_terminal(["credentials", "remove", "acme"], [("[y/N]", "n\r")])
        self.assertEqual(code, FAILED, shown)
        code, shown = self.at_terminal(["credentials", "remove", "acme"], [("[y/N]", "yes\r")])
        self.assertEqual(code, OK, shown)

    def test_status_says_what_needs_a_person(self):
        self.configure()
        self.serve()
        self.assertEqual(self.proofd("status")[0], NEEDS_PERSON)
        self.import_("acme")
        self.import_("shy")
        wait_until("all can serve", lambda: self.proofd("status")[0] == OK)
        status = json.loads(self.proofd("status", "--json")[1])
        self.assertEqual([c["can_serve"] for c in status["credentials"]], [True, True])


if __name__ == "__main__":
    unittest.main()
