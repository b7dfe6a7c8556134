"""A client that sends exactly the bytes it is told to, and reads answers strictly: one is whole, or it is none.

    with Wire(proofd.port) as wire:
        wire.send(wire.head("GET", "/open/x"))
        print(wire.answer().status)
"""

import socket
import struct
import typing

HEAD_BYTES_MAX = 65_536
SECONDS = 30


class Cut(Exception):
    """The connection ended inside an answer, or where its framing says that more must come."""


class Silent(Exception):
    """An answer has begun and does not go on."""


class Malformed(Exception):
    """What came is no HTTP answer."""


class Answer(typing.NamedTuple):
    status: int
    fields: dict  # by lower-case name; repeated ones joined with ", "
    body: bytes
    interim: list  # the status of each 1xx before it

    @property
    def proofd_error(self):
        return self.fields.get("proofd-error")

    @property
    def keeps_alive(self):
        return self.fields.get("connection", "").lower() != "close"


class Wire:
    def __init__(self, port, receive_buffer=None, seconds=SECONDS):
        """receive_buffer: bytes the kernel takes for us while we do not read."""
        self.port = port
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(seconds)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def head(self, method, target, version="HTTP/1.1", **fields):
        """A request head; underscores in names of fields stand for hyphens."""
        lines = [f"{method} {target} {version}", f"Host: 127.0.0.1:{self.port}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        return "\r\n".join([*lines, "", ""]).encode()

    def send(self, data):
        self.socket.sendall(data)

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self):
        """Closes with an RST: neither side's unread bytes will be read."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def answer(self, method="GET", body_seconds=None, may_end_with_connection=False):
        """The next final answer, or None when the connection ends before the first byte of one.

        body_seconds: how long to wait for more of a body, if not for as long as for a head.
        may_end_with_connection: whether the end of the connection may be the end of a body, for HTTP/1.0.
        """
        interim = []
        while True:
            if (head := self._head()) is None:
                if interim:
                    raise Cut("only 1xx heads came")
                return None
            status, fields = head
            if status >= 200:
                break
            interim.append(status)
        self.socket.settimeout(body_seconds or self.socket.gettimeout())
        try:
            body = b"".join(self._body(method, status, fields, may_end_with_connection))
            return Answer(status, fields, body, interim)
        except TimeoutError as error:
            raise Silent(f"{status} {fields}") from error

    def read(self, count):
        """Exactly so many of the bytes to come."""
        while len(self.received) < count:
            self._more()
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def closes(self):
        """Whether the connection ends without another byte."""
        try:
            return not self.received and self.socket.recv(1) == b""
        except ConnectionError:
            return True

    # What is read

    def _more(self):
        try:
            piece = self.socket.recv(1 << 16)
        except ConnectionError as error:
            raise Cut(str(error)) from error
        if not piece:
            raise Cut("end of input")
        self.received += piece

    def _rest(self):
        try:
            while piece := self.socket.recv(1 << 16):
                self.received += piece
        except ConnectionError as error:
            raise Cut(str(error)) from error
        return self.read(len(self.received))

    def _until(self, mark):
        searched = 0
        while (end := self.received.find(mark, searched)) < 0:
            if len(self.received) > HEAD_BYTES_MAX:
                raise Malformed(f"no end of a head in {len(self.received)} bytes")
            searched = max(0, len(self.received) - len(mark))
            self._more()
        return self.read(end + len(mark))[: -len(mark)]

    def _head(self):
        try:
            head = self._until(b"\r\n\r\n")
        except Cut:
            if self.received:
                raise
            return None
        line, *rest = head.decode("latin-1").split("\r\n")
        version, _, status = line.partition(" ")
        if version != "HTTP/1.1" or not status[:3].isdigit() or status[3:4] not in ("", " "):
            raise Malformed(line)
        fields = {}
        for field in rest:
            name, colon, value = field.partition(":")
            if not colon or name != name.strip():
                raise Malformed(field)
            name, value = name.lower(), value.strip()
            fields[name] = f"{fields[name]}, {value}" if name in fields else value
        return int(status[:3]), fields

    def _body(self, method, status, fields, may_end_with_connection):
        if method == "HEAD" or status in (204, 304):
            return
        length, coding = fields.get("content-length"), fields.get("transfer-encoding")
        if length is None and coding is None and may_end_with_connection:
            yield self._rest()
            return
        if (length is None) == (coding is None):
            raise Malformed(f"length {length}, coding {coding}")
        if length is not None:
            yield self.read(int(length))
            return
        if coding != "chunked":
            raise Malformed(coding)
        while size := int(self._until(b"\r\n"), 16):
            yield self.read(size)
            if self.read(2) != b"\r\n":
                raise Malformed("a chunk does not end where it says")
        while self._until(b"\r\n"):
            pass  # trailers
