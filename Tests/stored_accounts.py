"""Accounts of the simulator in a credential store that several processes share."""

import contextlib
import http.client
import json
import time

from harness import PROOFD, Proofd, Simulator, Stage


class StoredAccounts(Stage):
    """A test with a simulator, a store, and the configuration that daemons and commands share."""

    def begin(self, *accounts, nonces="off", token_seconds=300, under=()):
        """Imports an account `acme/NAME` for each name; its route is /NAME. `self.grants` has their numbers."""
        self.accounts = accounts
        self.simulator = Simulator(self, nonces=nonces, token_seconds=token_seconds)
        self.home = self.directory / "home"
        (self.home / "nowhere").mkdir(parents=True, mode=0o700)
        self.environment = {"HOME": self.home, "XDG_CONFIG_HOME": self.home} | self.simulator.environment
        self.credentials = {"acme": self.simulator.credential(grant="authorization_code", allow_export=True)}
        self.routes = {
            name: {"path": f"/{name}", "upstream": self.simulator.api, "credential": f"acme/{name}"}
            for name in accounts
        }
        self.settings = {"state": str(self.home / "state")}
        self.alone = self.write("home/alone.yaml", {
            "listen": "127.0.0.1:0", "credentials": self.credentials, "routes": self.routes,
        } | self.settings)
        seeds = self.simulator.seed_grants(len(accounts), key=True, subject="user-7", email="ann@example.com")
        self.grants = {name: seed["grant"] for name, seed in zip(accounts, seeds, strict=True)}
        for name, seed in zip(accounts, seeds, strict=True):
            value = {
                "refresh_token": seed["refresh_token"], "id_token": seed["id_token"], "proof_key": seed["private_key"],
                "scope": "openid offline_access",
            }
            finished = self.run_command(
                *self.command("credentials", "import", f"acme/{name}", "--offline"),
                environment=self.without_daemon, stdin=json.dumps(value))
            self.assertEqual(finished.returncode, 0, finished.stderr)

    def serve(self, environment=None, under=(), **settings):
        """A daemon on the store."""
        return Proofd(
            self, self.credentials, self.routes, self.environment | (environment or {}), under, **self.settings | settings)

    @property
    def without_daemon(self):
        """The environment of a command that finds no daemon."""
        return self.environment | {"XDG_RUNTIME_DIR": self.home / "nowhere"}

    def command(self, *words):
        return [PROOFD, *words, "--config", self.alone]

    def get(self, proofd, account):
        """Status, error code and seconds of one request through the account's route."""
        began = time.monotonic()
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", proofd.port, timeout=60)) as connection:
            connection.request("GET", f"/{account}/echo")
            answer = connection.getresponse()
            answer.read()
        return answer.status, answer.headers.get("Proofd-Error"), time.monotonic() - began

    def get_all(self, proofd):
        """One request through each route, and what came but 200."""
        answers = {name: self.get(proofd, name)[:2] for name in self.accounts}
        return {name: answer for name, answer in answers.items() if answer != (200, None)}

    def refreshes(self):
        """How often each account's grant was refreshed; fails if a used refresh token was ever sent again."""
        grants = self.simulator.grants()
        for name, grant in self.grants.items():
            self.assertEqual((grants[grant]["alive"], grants[grant]["reuses"]), (True, 0), name)
        return {name: grants[grant]["refreshes"] for name, grant in self.grants.items()}
