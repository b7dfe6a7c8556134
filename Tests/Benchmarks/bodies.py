"""Large bodies, one at a time: speed and processor time."""

import re
import socket
import threading
import time

from measure import WAITED, Figure, Outcome, Processor, by_turns, ratios
from servers import GIGABYTE, HUNDRED_MEGABYTES, Gateways, Origin, rival

# Without its last word nginx would write what the client has not taken yet to a file.
TUNED = "proxy_buffer_size 64k; proxy_buffers 8 64k; proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;"
UNBUFFERED = "proxy_request_buffering off;"
SECONDS_MAX = 120


def read_head(peer):
    """The bytes up to the empty line, and those after it that came along."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = peer.recv(1 << 16)
        if not piece:
            raise ConnectionError(f"closed after {received!r}")
        received += piece
    head, _, rest = received.partition(b"\r\n\r\n")
    return head, rest


def discard(peer, byte_count):
    """Takes bytes from a socket without copying them, tcp(7): the load should not be what limits the speed."""
    buffer = bytearray(1 << 20)
    while byte_count > 0:
        count = peer.recv_into(buffer, min(byte_count, len(buffer)), socket.MSG_TRUNC)
        if count == 0:
            raise ConnectionError(f"closed with {byte_count} bytes missing")
        byte_count -= count


def body_bytes(head):
    return int(re.search(rb"^content-length: *(\d+)", head, re.MULTILINE | re.IGNORECASE)[1])


def get(port, path):
    """Fetches and throws away; the number of bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS_MAX) as peer:
        peer.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        head, rest = read_head(peer)
        if not head.startswith(b"HTTP/1.1 200 "):
            raise ConnectionError(f"answered with {head!r}")
        discard(peer, body_bytes(head) - len(rest))
        return body_bytes(head)


def put(port, path, file):
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS_MAX) as peer, file.open("rb") as content:
        size = file.stat().st_size
        peer.sendall(f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {size}\r\n\r\n".encode())
        peer.sendfile(content)
        head, _ = read_head(peer)
        if not head.startswith(b"HTTP/1.1 200 "):
            raise ConnectionError(f"answered with {head!r}")
        return size


class Sink:
    """An upstream that takes a body, and answers when it has all of it."""

    def __init__(self, bench):
        self.listener = bench.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        with peer:
            while True:
                try:
                    head, rest = read_head(peer)
                    discard(peer, body_bytes(head) - len(rest))
                except ConnectionError:
                    return
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def timed(proxy, transfer):
    before, began = Processor.read(proxy.pids), time.monotonic()
    byte_count = transfer(proxy.port)
    seconds = time.monotonic() - began
    cpu = Processor.read(proxy.pids).since(before)
    return {
        "MB/s": byte_count / seconds / 1e6, "CPU ms a 100 MB": cpu.used * 1e11 / byte_count,
        WAITED: 100 * cpu.waited / seconds,
    }


def compared(samples, theirs):
    return [
        Figure(f"speed, proofd ÷ {theirs}", ratios(samples, "MB/s", "proofd Bearer", theirs)),
        Figure(f"CPU a byte, {theirs} ÷ proofd", ratios(samples, "CPU ms a 100 MB", theirs, "proofd Bearer")),
    ]


def download(bench, options):
    origin = Origin(bench)
    path = f"/files/{origin.file(GIGABYTE).name}"
    proxies = [
        rival(bench, origin.port, name="nginx 64 KiB", settings=TUNED), rival(bench, origin.port),
        Gateways(bench).bearer(origin.url, path="/files")]
    samples = by_turns(proxies, options.rounds, lambda proxy: timed(proxy, lambda port: get(port, path)))
    tuned = compared(samples, "nginx 64 KiB")
    tuned[0].at_least, tuned[1].at_least = 0.95, 1.0
    return Outcome("1 GB download", samples, tuned + compared(samples, "nginx"))


def upload(bench, options):
    file, sink = Origin(bench).file(GIGABYTE), Sink(bench)
    proxies = [
        rival(bench, sink.port), rival(bench, sink.port, name="nginx unbuffered", settings=UNBUFFERED),
        Gateways(bench).bearer(sink.url)]
    samples = by_turns(proxies, options.rounds, lambda proxy: timed(proxy, lambda port: put(port, "/api/file", file)))
    return Outcome("1 GB upload", samples, compared(samples, "nginx") + compared(samples, "nginx unbuffered"))


def tls_download(bench, options):
    origin = Origin(bench)
    path = f"/files/{origin.file(HUNDRED_MEGABYTES).name}"
    proxies = [
        rival(bench, origin.tls_port, name="nginx 64 KiB", tls=True, settings=TUNED),
        Gateways(bench).bearer(origin.tls_url, path="/files", route=origin.trusted),
    ]
    samples = by_turns(proxies, options.rounds, lambda proxy: timed(proxy, lambda port: get(port, path)))
    return Outcome("100 MB download, https upstream", samples, compared(samples, "nginx 64 KiB"))
