#!/usr/bin/env python3
"""A small origin: echoes method, target and the hash of the body; GET /bytes/N answers N known bytes, in the chunked
coding with ?chunked, and a request with ?rate=N is read and answered with N bytes a second; /close closes.

Prints "connection" for each connection, "resumed" for each that took up an earlier TLS session, and method and target
for each request, and the fields on stderr.

origin.py PORT [CERTIFICATE.pem KEY.pem [TLSv1_2]]    with a certificate it speaks TLS, up to the version named
"""

import hashlib
import json
import ssl
import sys
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PATTERN = hashlib.sha512(b"origin").digest() * 1024  # 64 KiB


def pattern(count):
    """`count` known bytes in pieces of 64 KiB: each begins with its number, so that none can take another's place."""
    for number in range(-(-count // len(PATTERN))):
        piece = number.to_bytes(8, "big") + PATTERN[8:]
        yield piece[: count - number * len(PATTERN)]


def paced(pieces, bytes_per_second):
    """The same pieces, each when its time has come; as fast as they are taken without a rate."""
    began, count = time.monotonic(), 0
    for piece in pieces:
        if bytes_per_second:
            time.sleep(max(0.0, began + count / bytes_per_second - time.monotonic()))
        count += len(piece)
        yield piece


def note(stream, text):
    """One write, so that the lines of several threads stay whole."""
    stream.write(text + "\n")
    stream.flush()


class Origin(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # head and body go out separately

    def setup(self):
        super().setup()
        note(sys.stdout, "connection")

    def answer(self):
        if getattr(self.connection, "session_reused", False):
            note(sys.stdout, "resumed")
        digest = hashlib.sha256()
        path, _, query = self.path.partition("?")
        options = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        rate = int(options.get("rate", 0))
        for piece in paced(self.body(), rate):
            digest.update(piece)
        if self.command == "GET" and path.startswith("/bytes/"):
            count = int(path.removeprefix("/bytes/"))
            self.begin("application/octet-stream", None if "chunked" in options else count)
            for piece in paced(pattern(count), rate):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if "chunked" in options else piece)
            if "chunked" in options:
                self.wfile.write(b"0\r\n\r\n")
        else:
            echo = {"method": self.command, "target": self.path, "body_sha256": digest.hexdigest()}
            body = json.dumps(echo).encode()
            self.begin("application/json", len(body))
            self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        left = int(self.headers.get("Content-Length", 0))
        while left > 0 and (piece := self.rfile.read(min(left, 1 << 16))):
            left -= len(piece)
            yield piece

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def begin(self, content_type, length):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        if self.path.partition("?")[0] == "/close":
            self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, *_):
        note(sys.stdout, f"{self.command} {self.path}")
        note(sys.stderr, str(self.headers))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1])), Origin)
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*sys.argv[2:4])
        if len(sys.argv) > 4:
            context.maximum_version = ssl.TLSVersion[sys.argv[4]]
        # The handshake belongs to the connection's thread, not to the one that accepts.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()
