"""An installation of proofd that is killed again and again, and what can be seen of it from outside."""

import contextlib
import dataclasses
import http.client
import shutil
import sqlite3
import urllib.parse

from harness import Proofd, Simulator

# Whoever waits for a lease that nobody has waits for longer.
ANSWER_SECONDS_MAX = 10

# What is there after the last kill. `untouched`: the store knows of no refresh. `noted`: it knows that one was begun, and the
# server has not taken the token. `lost`: the server has, and the store lacks the answer. `stored`: it has the answer.
UNTOUCHED, NOTED, LOST, STORED = "untouched", "noted", "lost", "stored"


@dataclasses.dataclass
class Login:
    number: int
    seeded: dict

    @property
    def grant(self):
        return self.seeded["grant"]

    @property
    def account(self):
        return f"a{self.number}"

    @property
    def is_bound(self):
        return "private_key" in self.seeded

    @property
    def name(self):
        return f"{'bound' if self.is_bound else 'bearer'}/{self.account}"


class Installation:
    """proofd with accounts of its own, one life after the other, and their server."""

    def __init__(self, stage, logins, overlap):
        """logins: by number, whether it is bound to a key. overlap: for how many seconds a used token is taken again."""
        self.stage = stage
        self.simulator = Simulator(stage, nonces="rotate", token_seconds=3_600, name=f"proofd-sim-{min(logins)}")
        self.simulator.set(authorization_server={"refresh_overlap_seconds": overlap, "binding": "optional"})
        self.logins = [
            Login(number, self.simulator.seed_grants(1, key=is_bound)[0]) for number, is_bound in logins.items()]
        credential = self.simulator.credential(grant="authorization_code")
        self.proofd = Proofd(
            stage, {"bound": credential, "bearer": credential | {"dpop": False}}, {}, self.simulator.environment)
        for login in self.logins:
            self.take_in(login)
        self.end_life()
        self.connections = []

    def take_in(self, login):
        grant = {"refresh_token": login.seeded["refresh_token"], "offline": True}
        if login.is_bound:
            grant["proof_key"] = login.seeded["private_key"]
        status, answer = self.account(login, "POST", "/import", grant)
        self.stage.assertEqual(status, 200, answer)

    def route(self, logins):
        """From the next life on these are refreshed when they have to be, and no others."""
        self.proofd.configure(routes={
            login.account: {"path": f"/{login.account}", "upstream": self.resource(login), "credential": login.name}
            for login in logins})

    def resource(self, login):
        """The API takes bound tokens only."""
        return f"{self.simulator.api}/echo" if login.is_bound else f"{self.simulator.authorization_server}/userinfo"

    def end_life(self):
        self.stage.assertEqual(self.proofd.child.stop(), 0)

    def account(self, login, method="GET", operation="", value=None):
        return self.proofd.admin(method, f"/v1/accounts/{urllib.parse.quote(login.name, safe='')}{operation}", value)

    def has_refreshed(self, login):
        """Whether its first refresh has come to an end, good or bad, as the daemon has it."""
        _, account = self.account(login)
        return "last_refresh_at" in account or account["state"] == "rotation_interrupted"

    def begin_request(self, login):
        connection = http.client.HTTPConnection("127.0.0.1", self.proofd.port, timeout=ANSWER_SECONDS_MAX)
        connection.request("GET", f"/{login.account}")
        self.connections.append(connection)

    def answer(self, login):
        """Status and `Proofd-Error` of a request."""
        self.begin_request(login)
        connection = self.connections.pop()
        with contextlib.closing(connection):
            response = connection.getresponse()
            response.read()
            return response.status, response.headers["Proofd-Error"]

    def refuse_answers(self):
        """Nobody was given anything by those that died."""
        for connection in self.connections:
            with contextlib.closing(connection), contextlib.suppress(ConnectionError):
                self.stage.fail(f"a request was answered with {connection.getresponse().status}")
        self.connections = []

    @contextlib.contextmanager
    def store(self):
        """What a daemon that has ended left, opened as a copy: opening the store itself would change its files."""
        copies = self.proofd.home / "copy"
        copies.mkdir(exist_ok=True)
        for path in (self.proofd.home / "state").glob("credentials.sqlite*"):
            shutil.copy(path, copies)
        with contextlib.closing(sqlite3.connect(copies / "credentials.sqlite")) as database:
            yield database
        shutil.rmtree(copies)

    def row(self, login):
        """Rotation, condition, and the rotation of the intent."""
        with self.store() as database:
            self.stage.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            return database.execute(
                "SELECT grants.rotation, condition, intents.rotation FROM grants LEFT JOIN intents ON grant_id = id"
                " WHERE profile || '/' || account = ?", [login.name]).fetchone()

    def presentations(self, login, verdicts=("accepted", "refresh_reused", "grant_revoked")):
        """Number and verdict of every refresh token of it that the server has judged."""
        return [
            (entry["token_request"]["rotation"], entry["verdict"])
            for entry in self.simulator.journal()
            if (entry["token_request"] or {}).get("grant") == login.grant and entry["verdict"] in verdicts
        ]

    def refreshed(self):
        """The grants whose tokens were presented, however that went."""
        return {entry["token_request"]["grant"] for entry in self.simulator.journal() if entry["token_request"]}

    def accepted(self, login):
        return len(self.presentations(login, ["accepted"]))

    def remains(self, login):
        """What the kills have left, by the store and the server's journal."""
        rotation, _, intent = self.row(login)
        if rotation:
            return STORED
        if self.accepted(login):
            return LOST
        return UNTOUCHED if intent is None else NOTED
