"""What is counted, not timed, and the speed of proofs."""

import collections
import json
import pathlib
import re
import signal
import sys

import harness
from measure import PROXY_CPU, Figure, Outcome, http_load, pinned
from servers import Gateways, Origin, rival
from small import PATH

TESTS = pathlib.Path(__file__).parents[1]
NONCE_REQUESTS, NONCE_RUNS = 1_000, 3


def proofs(bench, options):
    """ProofRate times proofs and raw signatures by turns in one process."""
    program = pathlib.Path(harness.PROOFD).with_name("ProofRate")
    finished = bench.run_command(*pinned(PROXY_CPU), program, options.rounds, seconds=120)
    rounds = [json.loads(line) for line in finished.stdout.splitlines()]
    if finished.returncode or not rounds:
        raise RuntimeError(finished.stderr.decode())
    samples = {key: {"a second of CPU": [values[key] for values in rounds]} for key in rounds[0]}
    share = [values["proofs"] / values["signatures"] for values in rounds]
    return Outcome("DPoP proofs, one thread", samples, [
        Figure("whole proofs ÷ raw ES256 signatures", share, at_least=0.90)])


def traced_calls(bench, proxy, seconds):
    """System calls a request under load, by name."""
    out = bench.directory / f"{proxy.name}.strace"
    strace = bench.start(f"strace-{proxy.name}", [
        "strace", "-f", "-c", "-o", out, *(word for pid in proxy.pids for word in ("-p", pid))])
    strace.wait_for("it traces", lambda: strace.output().count("attached") >= len(proxy.pids))
    requests = http_load(proxy, PATH, 64, seconds)["requests"]
    strace.stop(signal.SIGINT)
    calls = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+)(?: +\d+)? +(\w+)$", out.read_text(), re.MULTILINE)
    return {name: int(count) / requests for count, name in calls if name != "total"}


def syscalls(bench, options):
    origin = Origin(bench)
    proxies = [rival(bench, origin.port), Gateways(bench).bearer(origin.url)]
    figures = []
    for proxy in proxies:
        calls = traced_calls(bench, proxy, options.seconds)
        figures.append(Figure(f"{proxy.name}, all", [sum(calls.values())]))
        figures += [Figure(f"{proxy.name}, {name}", [count]) for name, count in calls.items() if count >= 0.005]
    return Outcome("system calls a request, 64 connections, traced", {}, figures)


def round_trips(bench, connections, previous_accepted, milliseconds):
    """Requests an API received for each that was answered, after one to warm up. Its nonce changes with each request
    that used the newest; it takes so long to answer, and accepts so many nonces before the newest."""
    simulator = harness.Simulator(bench, nonces="rotate")
    simulator.set(api={"nonce": {"previous_accepted": previous_accepted}})
    proofd = harness.Proofd(
        bench, {"c": simulator.credential()},
        {"api": {"path": "/api", "upstream": simulator.api, "credential": "c"}}, simulator.environment)
    proofd.curl("/api/echo")
    if milliseconds:
        simulator.fault("api", {"fault": "delay", "at": "before", "ms": milliseconds}, next="always")
    simulator.forget()
    statuses = proofd.curl(f"/api/echo?[1-{NONCE_REQUESTS}]", connections=connections)
    return simulator.count("api") / NONCE_REQUESTS, statuses


def nonces(bench, options):
    figures, notes = [], []
    for connections, previous_accepted, milliseconds, target in ((1, 0, 0, 1.0), (16, 1, 5, 1.0), (16, 1, 0, None)):
        runs = [round_trips(bench, connections, previous_accepted, milliseconds) for _ in range(NONCE_RUNS)]
        text = f"{connections} connection{'s' * (connections > 1)}"
        text += ", the previous nonce accepted" * previous_accepted
        text += f", {milliseconds} ms to the answer" if milliseconds else ""
        figures.append(Figure(text, [trips for trips, _ in runs], at_most=target))
        answers = collections.Counter()
        for _, statuses in runs:
            answers.update(statuses)
        notes.append(f"Answers, {text}: " + ", ".join(f"{count} × {status}" for status, count in answers.items()))
    return Outcome("upstream round trips a request with rotating nonces", {}, figures, notes)


def refreshes(bench, options):
    """The end-to-end test judges it, too."""
    finished = bench.run_command(
        sys.executable, TESTS / "EndToEnd/test_tokens_and_nonces.py",
        "TokensAndNonces.test_200_requests_at_expiry_make_one_token_request", environment={"PYTHONPATH": TESTS})
    found = re.search(rb"(\d+) requests at expiry: (\d+) token request", finished.stdout)
    if finished.returncode or not found:
        raise RuntimeError((finished.stdout + finished.stderr).decode())
    return Outcome("refreshes", {}, [
        Figure(f"for {int(found[1])} requests that arrive at expiry", [int(found[2])], at_most=1)])
