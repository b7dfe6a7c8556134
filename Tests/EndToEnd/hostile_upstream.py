"""The server under a hostile upstream: reads requests, and does with each connection what it is told to."""

import socket
import ssl
import struct
import threading
import time

STALL_SECONDS_MAX = 4


class Left(Exception):
    """proofd has closed the connection, or stopped taking what is written."""


class Peer:
    """One connection from proofd."""

    def __init__(self, connection, exchange_of):
        self.socket, self.exchange_of = connection, exchange_of
        self.received = b""
        self.open = True

    def serve(self):
        while self.open and (head := self.head()):
            self.fields = head[1]
            exchange = self.exchange_of(head[0])
            for step in exchange.next_attempt():
                step(self, exchange)
                if not self.open:
                    return

    def send(self, data):
        try:
            self.socket.settimeout(STALL_SECONDS_MAX)
            self.socket.sendall(data)
        except OSError as error:
            raise Left from error

    def close(self, how="fin"):
        """fin, rst, or half: we have said all, and listen until proofd closes, too."""
        self.open = False
        if how == "half":
            self.socket.shutdown(socket.SHUT_WR)
            return self.wait()
        if how == "rst":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def end_input(self):
        """The end of an answer that ends with its connection: with TLS it must be said (RFC 8446 §6.1)."""
        self.open = False
        if isinstance(self.socket, ssl.SSLSocket):
            self.socket.settimeout(0.2)
            try:
                self.socket.unwrap()
            except OSError:
                pass  # proofd need not answer in kind
        self.socket.close()

    def wait(self):
        """Until proofd closes the connection; what it sends is read and thrown away."""
        self.open = False
        until = time.monotonic() + STALL_SECONDS_MAX
        try:
            while time.monotonic() < until:
                self.socket.settimeout(max(0.01, until - time.monotonic()))
                if not self.socket.recv(1 << 16):
                    return
        except OSError:
            return

    def body(self):
        """The request's whole body, or None if proofd breaks it off."""
        if "expect" in self.fields:
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            if self.fields.get("transfer-encoding") == "chunked":
                return b"".join(self._chunks())
            return self._take(int(self.fields.get("content-length", 0)))
        except Left:
            self.open = False
            return None

    def _chunks(self):
        while size := int(self._line(), 16):
            yield self._take(size)
            self._line()
        while self._line():
            pass

    def head(self, seconds=STALL_SECONDS_MAX):
        """Target and fields of the next request, or None if none comes in time."""
        try:
            head = self._until(b"\r\n\r\n", seconds)
        except Left:
            return None
        line, *rest = head.decode("latin-1").split("\r\n")
        fields = dict(field.split(": ", 1) for field in rest)
        return line.split(" ")[1], {name.lower(): value for name, value in fields.items()}

    def _line(self):
        return self._until(b"\r\n")

    def _until(self, end, seconds=STALL_SECONDS_MAX):
        while end not in self.received:
            self._more(seconds)
        taken, _, self.received = self.received.partition(end)
        return taken

    def _take(self, count):
        pieces, left = [self.received[:count]], count - len(self.received)
        self.received = self.received[count:]
        while left > 0:
            self._more()
            pieces.append(self.received[:left])
            self.received, left = self.received[left:], left - len(self.received)
        return b"".join(pieces)

    def _more(self, seconds=STALL_SECONDS_MAX):
        try:
            self.socket.settimeout(seconds)
            piece = self.socket.recv(1 << 16)
        except OSError as error:
            raise Left from error
        if not piece:
            raise Left
        self.received += piece


class Upstream:
    """Listens, and serves each connection in a thread of its own."""

    def __init__(self, exchange_of, certificate=None, greet=None):
        """greet: does something to a connection as soon as it is accepted, instead of serving it."""
        self.exchange_of, self.greet = exchange_of, greet
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self.listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        peer = Peer(connection, self.exchange_of)
        try:
            if self.greet:
                return self.greet(peer)
            if self.context:
                connection.settimeout(STALL_SECONDS_MAX)
                peer.socket = self.context.wrap_socket(connection, server_side=True)
            peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer.serve()
        except (OSError, Left):
            pass  # proofd has left
        finally:
            peer.socket.close()
