#!/usr/bin/env python3
"""Guards the hot path: user instructions a request, counted by callgrind, against the limits in instructions.json.

    PROOFD=.build/release/proofd PROOFD_SIM=.build/release/proofd-sim PYTHONPATH=Tests \
        python3 Tests/Benchmarks/instructions.py [--profile DIRECTORY] [bearer] [dpop]

One loop, four kept connections, one request at a time, so that the count is the same in every run and on every machine
within a percent. Two runs of different length; what they differ by is the price of the requests between them, without
start-up. Exit code 1 if a limit is passed. --profile writes the 60 most expensive functions to DIRECTORY/KIND.txt.
"""

import argparse
import json
import pathlib
import re
import socket
import sys
import threading

import harness
from bench import Bench
from callgrind import Costs, profile

SHORT, LONG, CONNECTIONS = 200, 1_200, 4
LIMITS = pathlib.Path(__file__).with_name("instructions.json")
TIGHTEN_BELOW = 0.90
ANSWER_SECONDS_MAX = 60  # under valgrind, on a busy machine
PROFILED_FUNCTIONS = 60

REQUEST = (
    "GET /api/orders/17?status=open HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    "User-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n"
)
BODY = b'{"id":17,"status":"open","total":"129.90","currency":"EUR"}\n'
ANSWER = (
    b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 30 Nov 2025 09:00:00 GMT\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\nConnection: keep-alive\r\n\r\n%s" % (len(BODY), BODY)
)


class Origin:
    """Answers every request, a head without a body, with the same bytes."""

    def __init__(self, bench):
        self.listener = bench.enter_context(socket.create_server(("127.0.0.1", 0), backlog=64))
        self.url = "http://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            received = b""
            while piece := connection.recv(1 << 16):
                received += piece
                while b"\r\n\r\n" in received:
                    received = received.partition(b"\r\n\r\n")[2]
                    connection.sendall(ANSWER)


def send_requests(port, count):
    """One after the other, in turn over the connections; each must be answered with 200."""
    request = REQUEST.format(port=port).encode()
    clients = [socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS_MAX) for _ in range(CONNECTIONS)]
    for index in range(count):
        client, received = clients[index % CONNECTIONS], b""
        client.sendall(request)
        while not received.endswith(BODY):
            piece = client.recv(1 << 16)
            if not piece or not (received + piece).startswith(b"HTTP/1.1 200 "):
                raise ConnectionError(f"request {index} was answered with {received + piece!r}")
            received += piece
    for client in clients:
        client.close()


def measure(kind, requests):
    """The costs of a whole run of proofd that served so many requests."""
    with Bench() as bench:
        origin, environment = Origin(bench), {}
        if kind == "dpop":
            simulator = harness.Simulator(bench, token_seconds=86_400)
            credential, environment = simulator.credential(), simulator.environment
        else:
            credential, environment = {"provider": "static", "token": {"env": "TOKEN"}}, {"TOKEN": "bearer-token-4f1d"}
        out = bench.directory / "callgrind.out"
        valgrind = [
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--compress-strings=no",
            "--compress-pos=no", "--quiet",
        ]
        proofd = harness.Proofd(
            bench, {"c": credential}, {"api": {"path": "/api", "upstream": origin.url, "credential": "c"}}, environment,
            under=valgrind, threads=1,
        )
        send_requests(proofd.port, requests)
        proofd.child.stop()
        return Costs.read(out)


def check(kind, limits, profiles):
    """Whether the limit is kept."""
    costs = measure(kind, LONG).less(measure(kind, SHORT))
    requests = LONG - SHORT
    each, limit = round(costs.instructions / requests), limits[kind]
    harness.result(f"{kind} {each:,} instructions a request (limit {limit:,})")
    if profiles:
        (profiles / f"{kind}.txt").write_text(profile(costs, requests, PROFILED_FUNCTIONS))
        print(f"profile: {profiles / kind}.txt")
    if each > limit:
        print(f"{kind}: {each - limit:,} instructions a request too many; see them with --profile", file=sys.stderr)
    elif each < limit * TIGHTEN_BELOW:
        harness.result(f"{kind} is far below its limit: tighten {LIMITS.name} to {each * 105 // 100}")
    return each <= limit


def main():
    limits = json.loads(LIMITS.read_text())
    parser = argparse.ArgumentParser(description="Counts proofd's instructions a request.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(limits)}; default: all")
    parser.add_argument("--profile", type=pathlib.Path, metavar="DIRECTORY", help="write the most expensive functions")
    arguments = parser.parse_args()
    if unknown := set(arguments.kinds) - set(limits):
        parser.error(f"unknown: {', '.join(unknown)}")
    if arguments.profile:
        arguments.profile.mkdir(parents=True, exist_ok=True)
    kept = [check(kind, limits, arguments.profile) for kind in arguments.kinds or limits]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
