"""Where proofd is killed in the middle of a refresh, and what a kill there leaves behind.

A kill is a step at which CrashingProofd ends itself by SIGKILL, or one of the functions below, by which proofd is killed from
outside while its request is at the server. Several are one after the other, each in a life of its own: those after the
first hit the recovery. In every life proofd begins to refresh as soon as it starts, and a request waits for the token.
"""

import contextlib
import dataclasses
import pathlib
import signal

from harness import PROOFD, wait_until
from killed_installation import LOST, NOTED, STORED, UNTOUCHED

CRASHING_PROOFD = pathlib.Path(PROOFD).with_name("CrashingProofd")
DEATH_SECONDS_MAX = 20


def unread(installation, login):
    """The server has the request and comes to an end, too."""
    at_the_server(installation, login, "before", {"fault": "drop", "at": "before"}, path="/token")


def overtaken(installation, login):
    """The server takes up the request when proofd is dead already."""
    if login.is_bound:
        installation.simulator.fault("as", {"fault": "pass"}, path="/token")  # the request that learns the nonce
    at_the_server(installation, login, "before", path="/token")
    wait_until("the refresh is accepted", lambda: installation.accepted(login))


def unanswered(installation, login):
    """The server has used the token up and keeps the answer back."""
    at_the_server(installation, login, "after", path="/token", grant=login.grant, verdict="accepted")


def half_answered(installation, login):
    """The server has written a part of the answer."""
    installation.simulator.fault(
        "as", {"fault": "pace", "bytes": 8, "ms": 50}, path="/token", grant=login.grant, verdict="accepted")
    installation.proofd.begin()
    installation.begin_request(login)
    wait_until("the refresh is accepted", lambda: installation.accepted(login))
    installation.proofd.child.stop(signal.SIGKILL)


def at_the_server(installation, login, moment, *faults, **match):
    simulator, gate = installation.simulator, f"{login.account}-{moment}"
    simulator.fault("as", {"fault": "hold", "at": moment, "gate": gate}, *faults, **match)
    installation.proofd.begin()
    installation.begin_request(login)
    wait_until("the refresh is at the server", lambda: simulator.waiting(gate))
    installation.proofd.child.stop(signal.SIGKILL)
    simulator.open_gate(gate)


def crash(installation, login, steps):
    """A life of CrashingProofd that comes to the last of `steps`, maybe before it takes requests."""
    proofd = installation.proofd
    with contextlib.suppress(ChildProcessError, ConnectionError):
        proofd.begin(CRASHING_PROOFD, environment={"PROOFD_CRASH_AT": steps})
        installation.begin_request(login)
    code = proofd.child.process.wait(DEATH_SECONDS_MAX)
    if code != -signal.SIGKILL:
        raise AssertionError(f"CrashingProofd ended with {code} and not at {steps}: {proofd.child.output()}")


@dataclasses.dataclass(frozen=True)
class Moment:
    kills: tuple
    leaves: str
    # The same if the server takes a used token again.
    leaves_with_overlap: str

    def __str__(self):
        return " then ".join(kill if isinstance(kill, str) else kill.__name__ for kill in self.kills)

    def strike(self, installation, login):
        for kill in self.kills:
            if isinstance(kill, str):
                crash(installation, login, kill)
            else:
                kill(installation, login)


def moment(*kills, leaves, leaves_with_overlap=None):
    return Moment(kills, leaves, leaves_with_overlap or leaves)


MOMENTS = [
    moment("leased", leaves=UNTOUCHED),
    moment("leased,uncommitted", leaves=UNTOUCHED),
    moment("leased,committed", leaves=NOTED),
    moment("intended", leaves=NOTED),
    moment("sending", leaves=NOTED),
    moment(unread, leaves=NOTED),
    moment(overtaken, leaves=LOST),
    moment(unanswered, leaves=LOST),
    moment(half_answered, leaves=LOST),
    moment("answered", leaves=LOST),
    moment("storing", leaves=LOST),
    moment("storing,uncommitted", leaves=LOST),
    moment("storing,committed", leaves=STORED),
    moment("stored", leaves=STORED),
    moment("released", leaves=STORED),
    moment("intended", "leased", leaves=NOTED),
    moment("leased,committed", "intended", leaves=NOTED),
    moment("sending", "answered", leaves=LOST),
    moment("intended", "storing,committed", leaves=STORED),
    moment("intended", unanswered, leaves=LOST),
    moment("answered", "sending", leaves=LOST),
    moment("storing", "sending,uncommitted", leaves=LOST),  # what the server says of the old token is not durable either
    moment(unanswered, "sending,committed", leaves=LOST, leaves_with_overlap=STORED),
    moment("answered", "leased", "intended", leaves=LOST),
]
