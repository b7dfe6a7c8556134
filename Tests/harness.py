"""What the drivers in EndToEnd and Interop share: a directory that goes away, free ports, processes that are always
stopped, waiting with a deadline, and proofd and proofd-sim as children.

Each driver runs alone, with this folder on PYTHONPATH:

    PYTHONPATH=Tests PROOFD=.build/release/proofd PROOFD_SIM=.build/release/proofd-sim \
        .build/venv/bin/python Tests/EndToEnd/test_lifecycle.py

A test that fails keeps its directory (configuration, logs, answers) and prints where it is.
Lines that start with "result:" are figures Tests/run.sh shows even when all is well.
"""

import collections
import http.client
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PROOFD, PROOFD_SIM = os.environ.get("PROOFD", "proofd"), os.environ.get("PROOFD_SIM", "proofd-sim")
SANITIZER = os.environ.get("SANITIZER")  # the one PROOFD is built with: address or thread
START_SECONDS_MAX = 20
STOP_SECONDS_MAX = 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(what, probe, seconds=START_SECONDS_MAX):
    """The first true answer of `probe`, asked again and again until the deadline."""
    deadline = time.monotonic() + seconds
    while True:
        if answer := probe():
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds} s still not: {what}")
        time.sleep(0.02)


def listens(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def result(text):
    print(f"result: {text}", flush=True)


def refuse_report(name, output):
    """A sanitizer's report fails the test, whatever else the process did: its exit code may have been expected."""
    if "Sanitizer" in output:
        raise AssertionError(f"{name}:\n{output}")


def may_look_into_others():
    """Whether proofd's descriptors and the like can be read although it hides them: with CAP_SYS_PTRACE."""
    effective = re.search(r"^CapEff:\s+(\w+)$", pathlib.Path("/proc/self/status").read_text(), re.MULTILINE)[1]
    return bool(int(effective, 16) >> 19 & 1)


def with_environment(more):
    """What the test says over what is there. Tests that count descriptors must be able to, whoever runs them."""
    own = {} if may_look_into_others() else {"PROOFD_INSPECTABLE": "1"}
    return os.environ | own | {name: str(value) for name, value in (more or {}).items()}


def receive_all(client):
    """What comes on a socket until the other side closes it."""
    received = b""
    while piece := client.recv(1 << 16):
        received += piece
    return received


class UnixConnection(http.client.HTTPConnection):
    """To a control socket."""

    def __init__(self, path):
        super().__init__("proofd", timeout=20)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Child:
    """A process of ours. Its stdout and stderr go to NAME.out and NAME.err in the stage's directory."""

    def __init__(self, name, arguments, directory, environment=None):
        self.name = name
        self.out, self.err = directory / f"{name}.out", directory / f"{name}.err"
        with self.out.open("ab") as out, self.err.open("ab") as err:
            self.process = subprocess.Popen(
                [str(argument) for argument in arguments],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                env=with_environment(environment),
            )

    @property
    def running(self):
        return self.process.poll() is None

    def memory_kilobytes(self, field="VmRSS"):
        """What the kernel counts as its memory: VmRSS now, VmHWM the most it ever was (proc_pid_status(5))."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)[1])

    def forget_peak(self):
        """Lets VmHWM begin anew from what is used now (proc_pid_clear_refs(5))."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    @property
    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def output(self):
        return self.out.read_text(errors="replace") + self.err.read_text(errors="replace")

    def wait_for(self, what, probe):
        """Waits for `probe`, and says at once when the process has ended instead."""

        def answer_or_end():
            if answer := probe():
                return answer
            if not self.running:
                raise ChildProcessError(f"{self.name} ended with {self.process.returncode}:\n{self.output()}")

        return wait_until(f"{self.name}: {what}", answer_or_end)

    def stop(self, with_signal=signal.SIGTERM):
        """Its exit code; a process that does not stop in time is killed, and that is an error."""
        if self.running:
            self.process.send_signal(with_signal)
        try:
            code = self.process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise TimeoutError(f"{self.name} did not stop {STOP_SECONDS_MAX} s after signal {with_signal}") from None
        refuse_report(self.name, self.err.read_text(errors="replace"))
        return code


class Stage(unittest.TestCase):
    """A test with a directory and children. Both are gone when it ends, the directory only if it passed."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="proofd-test-"))

    def run(self, outcome=None):
        before = len(outcome.failures) + len(outcome.errors)
        super().run(outcome)
        if len(outcome.failures) + len(outcome.errors) == before:
            shutil.rmtree(self.directory, ignore_errors=True)
        else:
            print(f"kept: {self.directory}", file=sys.stderr)

    def start(self, name, arguments, environment=None):
        child = Child(name, arguments, self.directory, environment)
        self.addCleanup(child.stop)  # also when setUp fails
        return child

    def write(self, name, content, mode=0o600):
        path = self.directory / name
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        path.chmod(mode)
        return path

    def assert_memory(self, kilobytes, most, message=None):
        """Says nothing of a PROOFD with a sanitizer: that keeps what was freed, and a shadow of everything."""
        if not SANITIZER:
            self.assertLessEqual(kilobytes, most, message)

    def run_command(self, *arguments, seconds=60, environment=None, cwd=None, stdin=""):
        """A finished command with its output as bytes."""
        finished = subprocess.run(
            [str(argument) for argument in arguments],
            input=stdin.encode(), capture_output=True, timeout=seconds, check=False, cwd=cwd,
            env=with_environment(environment),
        )
        refuse_report(arguments[0], finished.stderr.decode(errors="replace"))
        return finished


class Origin:
    """An upstream without protection that keeps a list of what reached it."""

    def __init__(self, stage, name="origin", certificate=None, *options):
        """certificate: the paths of the certificate and its key, for TLS. options: what origin.py takes behind them."""
        self.port = free_port()
        script = pathlib.Path(__file__).with_name("origin.py")
        self.child = stage.start(name, [sys.executable, script, self.port, *(certificate or []), *options])
        self.child.wait_for("it listens", lambda: listens(self.port))

    @property
    def requests(self):
        """Method and target of what was answered, in order."""
        return [line for line in self.child.out.read_text().splitlines() if line not in ("connection", "resumed")]

    @property
    def heads(self):
        """All request lines and fields that reached it."""
        return self.child.output()

    @property
    def connections(self):
        return self.child.out.read_text().splitlines().count("connection")

    @property
    def resumptions(self):
        """How many requests came on connections that took up an earlier TLS session."""
        return self.child.out.read_text().splitlines().count("resumed")


class Proofd:
    """The gateway under test, with directories, log and control socket of its own."""

    numbers = itertools.count(1)

    def __init__(self, stage, credentials, routes, environment=None, under=(), **settings):
        """under: a command that runs the gateway, such as taskset or valgrind with their options."""
        self.stage = stage
        self.home = home = stage.directory / f"proofd-{next(self.numbers)}"
        home.mkdir(mode=0o700)
        self.log = home / "requests.log"
        self.configuration = {
            "listen": "127.0.0.1:0", "state": str(home / "state"), "log": {"file": str(self.log)},
            "credentials": credentials, "routes": routes,
        } | settings
        self.configure()
        self.environment = {"XDG_RUNTIME_DIR": home, "XDG_CONFIG_HOME": home, "HOME": home} | (environment or {})
        self.under, self.name = under, home.name
        self.begin()

    def configure(self, **changes):
        """Writes the file that the next start reads."""
        self.configuration |= changes
        self.settings = self.stage.write(f"{self.home.name}/proofd.yaml", self.configuration)

    def begin(self, program=PROOFD, environment=None):
        """Starts it, on what it left behind if it ran before; a port that it was told to choose is another each time."""
        out = self.stage.directory / f"{self.name}.out"
        said = out.stat().st_size if out.exists() else 0
        self.child = self.stage.start(
            self.name, [*self.under, program, "serve", "--config", self.settings],
            self.environment | (environment or {}))
        url = re.compile(r"http://127\.0\.0\.1:(\d+)\b.*\n")
        ready = self.child.wait_for("it says where it listens", lambda: url.search(out.read_text()[said:]))
        self.port = int(ready[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def restart(self):
        self.stage.assertEqual(self.child.stop(), 0)
        self.begin()

    def verb(self, *arguments, stdin=""):
        """`proofd VERB …` against this daemon."""
        return self.stage.run_command(PROOFD, *arguments, environment=self.environment, stdin=stdin)

    def admin(self, method, path, value=None):
        """Status and content of an operation of the admin API."""
        connection = UnixConnection(self.home / "proofd" / "control.sock")
        body = None if value is None else json.dumps(value)
        connection.request(method, path, body, {} if body is None else {"Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, json.loads(content) if content else None

    def curl(self, target, connections=1, arguments=()):
        """Sends what curl makes of the [1-N] in `target`; how often each status came. 000 is no answer."""
        finished = self.stage.run_command(
            "curl", "--silent", "--show-error", "--noproxy", "*", "--parallel", "--parallel-immediate",
            "--parallel-max", connections, "--output", "/dev/null", "--write-out", "%{http_code}\n",
            *arguments, self.url + target, seconds=300,
        )
        return dict(collections.Counter(finished.stdout.decode().split()))

    def records(self, count=0, event="request"):
        """The lines of the log, as soon as there are `count`."""

        def lines():
            text = self.log.read_text() if self.log.exists() else ""
            found = [json.loads(line) for line in text.splitlines()]
            return [record for record in found if record["event"] == event]

        wait_until(f"{count} records in {self.log}", lambda: len(lines()) >= count)
        return lines()


class Simulator:
    """proofd-sim: an authorization server, a DPoP-protected API, and the port that scripts both."""

    client_id, client_secret = "svc", "simulated-client-secret-7c1e"

    def __init__(self, stage, nonces="off", token_seconds=300, under=(), name="proofd-sim"):
        self.child = stage.start(name, [
            *under, PROOFD_SIM, "--client", f"{self.client_id}:{self.client_secret}",
            "--nonce", nonces, "--expires-in", token_seconds,
        ])
        line = re.compile(r"ready as=(\S+) api=(\S+) admin=http://127\.0\.0\.1:(\d+)\n")
        ready = self.child.wait_for("it is ready", lambda: line.search(self.child.out.read_text()))
        self.authorization_server, self.api, self.admin_port = ready[1], ready[2], int(ready[3])

    def ask(self, method, path, value=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=30)
        body = None if value is None else json.dumps(value)
        connection.request(method, path, body, {} if body is None else {"Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        connection.close()
        if response.status >= 300:
            raise RuntimeError(f"proofd-sim: {method} {path}: {response.status} {content.decode()}")
        return json.loads(content) if content else None

    def set(self, **settings):
        self.ask("PATCH", "/settings", settings)

    def fault(self, role, *faults, next=1, path=None, **match):
        """`match`: `grant_type`, `grant`, `verdict`; with these the faults happen to judged requests."""
        match |= {"role": role} | ({"path": path} if path else {})
        self.ask("POST", "/faults", {"match": match, "next": next, "faults": list(faults)})

    def seed_grants(self, count, **seed):
        """Begins logins nobody made: for each `grant`, `refresh_token`, `id_token`, `jkt`, and `private_key` if `key=True`."""
        return self.ask("POST", "/grants", {"client_id": self.client_id, "count": count} | seed)

    def grants(self):
        """The state of every grant by its number: `alive`, `rotation`, `refreshes`, `reuses`, …"""
        return {grant["grant"]: grant for grant in self.ask("GET", "/grants")}

    def waiting(self, gate):
        return self.ask("GET", f"/gates/{gate}")["waiting"]

    def open_gate(self, gate):
        self.ask("POST", f"/gates/{gate}/open")

    def forget(self):
        self.ask("DELETE", "/journal")

    def count(self, role, path=None):
        """How many requests the `as` or the `api` has received since the journal began."""
        paths = self.ask("GET", "/counts")[role]["paths"]
        return sum(count for name, count in paths.items() if path in (None, name))

    @property
    def token_requests(self):
        return self.count("as", "/token")

    def journal(self):
        entries = []
        while page := self.ask("GET", f"/journal?since={entries[-1]['sequence'] if entries else 0}"):
            entries += page
        return entries

    def secrets(self):
        """What it received of tokens, proofs and nonces."""
        found = set()
        for entry in self.journal():
            for name, value in entry["fields"]:
                if name.lower() in ("authorization", "dpop"):
                    found.add(value.rpartition(" ")[2])
            if entry["proof"]:
                found.add(entry["proof"]["claims"].get("nonce"))
        return found - {None}

    def credential(self, **more):
        """A client of it, as proofd is configured; the environment comes from `environment`."""
        return {
            "provider": "oidc", "issuer": self.authorization_server, "grant": "client_credentials",
            "client_id": self.client_id, "client_secret": {"env": "SIMULATED_SECRET"}, "dpop": True,
        } | more

    @property
    def environment(self):
        return {"SIMULATED_SECRET": self.client_secret}
