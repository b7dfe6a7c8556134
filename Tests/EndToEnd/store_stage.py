"""A stage for what can be wrong with a credential store: a daemon with logins, and where each trouble has to be told."""

import json
import re

from harness import PROOFD, Proofd, Simulator, Stage, wait_until

CHANGE_NOTICED_SECONDS = 10  # proofd looks at its store every two seconds


class StoreStage(Stage):
    """A daemon with three logins: `acme` has a token, `acme/cold` and `acme/spare` need a refresh for their first request."""

    def serve(self, state=None, nonces="off"):
        self.simulator = Simulator(self, nonces=nonces)
        login = self.simulator.credential(grant="authorization_code", allow_export=True)
        routes = {
            name.replace("/", "-"): {"path": f"/{name}", "upstream": self.simulator.api, "credential": name}
            for name in ("acme", "acme/cold", "acme/spare", "machine")}
        settings = {"state": str(state)} if state else {}
        self.proofd = Proofd(
            self, {"acme": login, "machine": self.simulator.credential()}, routes, self.simulator.environment, **settings)
        self.home = self.proofd.log.parent
        self.state = state or self.home / "state"
        self.database, self.key = self.state / "credentials.sqlite", self.home / "proofd" / "store.key"
        self.grants = {name: self.import_(name) for name in ("acme/", "acme/cold", "acme/spare")}
        self.request("/acme", 200)
        self.request("/machine", 200)
        self.assertEqual(self.refreshes, {"acme/": 1, "acme/cold": 0, "acme/spare": 0})

    def import_(self, name):
        [grant] = self.simulator.seed_grants(1, key=True, scope="openid offline_access")
        content = {name: grant[name] for name in ("refresh_token", "id_token")} | {"proof_key": grant["private_key"]}
        self.verb("credentials", "import", name, "--offline", stdin=json.dumps(content))
        return grant["grant"]

    def verb(self, *words, code=0, stdin=""):
        finished = self.proofd.verb(*words, "--config", self.proofd.settings, stdin=stdin)
        self.assertEqual(finished.returncode, code, (words, finished.stdout, finished.stderr))
        return (finished.stdout if code == 0 else finished.stderr).decode()

    def stop(self):
        self.assertEqual(self.proofd.child.stop(), 0)

    def start_again(self):
        """The same gateway on another port."""
        name = f"again-{len(list(self.directory.glob('again-*.out')))}"
        self.proofd.child = self.start(
            name, [PROOFD, "serve", "--config", self.proofd.settings], self.proofd.environment)
        url = re.compile(r"(http://127\.0\.0\.1:\d+)\b.*\n")
        self.proofd.url = self.proofd.child.wait_for(
            "it says where it listens", lambda: url.search(self.proofd.child.out.read_text()))[1]

    @property
    def refreshes(self):
        states = self.simulator.grants()
        self.assertEqual([state["reuses"] for state in states.values()], [0] * len(states))
        self.assertTrue(all(state["alive"] for state in states.values()))
        return {name: states[number]["refreshes"] for name, number in self.grants.items()}

    def request(self, path, status):
        """The problem a request is told, with its Retry-After; None if it was answered by the upstream."""
        finished = self.run_command(
            "curl", "--silent", "--noproxy", "*", "--include", "--max-time", "30", f"{self.proofd.url}{path}/echo")
        head, _, body = finished.stdout.decode().partition("\r\n\r\n")
        self.assertEqual(head.split()[1], str(status), finished.stdout)
        if status == 200:
            return None
        problem = json.loads(body)
        self.assertIn(f"Proofd-Error: {problem['code']}", head)
        return problem | {"retry_after": re.search(r"(?m)^Retry-After: (\d+)\r$", head)}

    def account(self, name):
        """What the status says of an account, or of its profile while nobody knows which accounts there are."""
        accounts = {account["name"]: account for account in json.loads(self.proofd.verb("status", "--json").stdout)["credentials"]}
        return accounts.get(name) or accounts[name.partition("/")[0]]

    def is_told(self, code, detail, next_, *, status, problem, state, path="/acme/cold", store_wide=True):
        """Everywhere somebody may look. Other logins that have a token and machines go on."""
        name = path[1:]
        before = self.refreshes[name]
        # For a second a request is told the trouble before this one.
        found = wait_until(
            "a request is told", lambda: (seen := self.request(path, status))["detail"] == detail and seen,
            CHANGE_NOTICED_SECONDS)
        self.assertEqual(found["code"], problem)
        self.assertIn("`proofd status`", found["next"])
        self.assertEqual(found["retry_after"] is not None, status == 503)
        self.assertEqual(self.refreshes[name], before)  # nothing was sent
        account = wait_until(
            "the status tells", lambda: (seen := self.account(name))["state"] == state and seen, CHANGE_NOTICED_SECONDS)
        self.assertFalse(account["can_serve"])
        self.assertTrue(account["next"].startswith(next_[:-1]), account["next"])
        self.assertIn(detail, (account.get("detail"), account.get("last_failure", {}).get("detail")))
        shown = self.proofd.verb("status")
        self.assertEqual(shown.returncode, 1)
        self.assertIn(detail, shown.stdout.decode())
        if store_wide:
            for words in (["list"], ["show", name], ["tag", name, "--add", "x"]):
                self.assertEqual(self.verb("credentials", *words, code=1), f"proofd: {detail}\n  {next_}\n", words)
            self.assertTrue(self.verb("token", name, code=1).startswith(f"proofd: {detail}\n  {next_[:-1]}"))
        entry = [record for record in self.proofd.records(1, event="credential") if record["credential"] == name][-1]
        self.assertEqual((entry["error"], entry["detail"]), (code, detail))
        self.assertTrue(entry["next"].startswith(next_[:-1]), entry["next"])
        self.request("/machine", 200)
        self.assertEqual(self.refreshes[name], before)
        self.assertTrue(self.proofd.child.running)

    def serves_again(self, path="/acme/cold", name="acme/cold", refreshes=1):
        """Without a restart, with the refresh token it had."""
        wait_until(
            "it serves again", lambda: self.proofd.curl(path + "/echo") == {"200": 1}, CHANGE_NOTICED_SECONDS)
        self.assertEqual(self.refreshes[name], refreshes)
        self.request("/acme", 200)
        self.request("/acme/spare", 200)
        self.assertEqual(self.refreshes, {"acme/": 1, "acme/cold": 1, "acme/spare": 1})
        wait_until("the status is well", lambda: self.proofd.verb("status").returncode == 0, CHANGE_NOTICED_SECONDS)
