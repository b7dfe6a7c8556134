"""What proofd holds: after start, with idle connections, while large bodies pass."""

import contextlib
import socket

import harness
from bodies import Sink, get, put
from measure import Figure, Outcome, memory_megabytes
from servers import GIGABYTE, Gateways, Origin, rival

IDLE_CONNECTIONS = 5_000
CONNECTIONS_MAX = 8_192  # of nginx, which reserves them all


def with_idle_connections(proxy, count):
    """Memory while so many clients are connected, each of which has been answered once."""
    with contextlib.ExitStack() as clients:
        for _ in range(count):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", proxy.port), timeout=30))
            client.sendall(f"GET /api/x HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n\r\n".encode())
            answer = client.recv(4096)
            if not answer.startswith(b"HTTP/1.1 200 "):
                raise ConnectionError(f"answered with {answer!r}")
        return total(proxy)


def total(proxy):
    """Of nginx the worker alone; the master holds the same pages once more."""
    return memory_megabytes(proxy.pids[-1])


def memory(bench, options):
    origin, sink, gateways = Origin(bench), Sink(bench), Gateways(bench)
    file = origin.file(GIGABYTE)
    path = f"/files/{file.name}"
    nginx = rival(bench, origin.port, connections=CONNECTIONS_MAX)
    ours = gateways.bearer(origin.url)
    samples = {"nginx": {"MB at start": [total(nginx)]}, "proofd": {"MB at start": [total(ours)]}}
    for name, proxy in (("nginx", nginx), ("proofd", ours)):
        samples[name]["MB with 5,000 idle connections"] = [with_idle_connections(proxy, IDLE_CONNECTIONS)]
    plain = gateways.bearer(origin.url, path="/files")
    secured = gateways.bearer(origin.tls_url, path="/files", route=origin.trusted)
    uploading = gateways.bearer(sink.url)
    get(plain.port, path)
    get(secured.port, path)
    put(uploading.port, "/api/file", file)
    peaks = [memory_megabytes(proxy.pids[0], "VmHWM") for proxy in (plain, secured, uploading)]
    samples["proofd"]["MB at most in 1 GB down, down from https, up"] = [max(peaks)]
    start, idle, streaming = samples["proofd"].values()
    return Outcome("memory, 1 loop", samples, [
        Figure("MB at start", start, at_most=12), Figure("MB with 5,000 idle connections", idle, at_most=20),
        Figure("MB at most in 1 GB streams", streaming, at_most=20),
    ])
