"""A strict reader of HTTP/1.1 messages, written apart from proofd's: what proofd sends to either side must be readable,
and in one way only.
"""

import re

TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
VALUE = rb"[\t -~\x80-\xff]*"
REQUEST_LINE = re.compile(rb"(" + TOKEN + rb") (/[!-\"$-~]*) HTTP/1\.1")
STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5][0-9]{2}) " + VALUE)
FIELD = re.compile(rb"(" + TOKEN + rb"): ?(" + VALUE + rb")")
CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,15}")


class Broken(Exception):
    """Not HTTP, or HTTP that somebody else might read another way."""


class Message:
    """A head, and as much of its body as there is."""

    def __init__(self, head):
        self.start, *lines = head.split(b"\r\n")
        self.fields = [self.field(line) for line in lines]
        self.body, self.trailers, self.whole = b"", [], False

    @staticmethod
    def field(line):
        if not (match := FIELD.fullmatch(line)):
            raise Broken(f"field line {line!r}")
        return match[1].decode().lower(), match[2].decode("latin-1").strip()

    def values(self, name):
        return [value for found, value in self.fields if found == name]

    def value(self, name):
        values = self.values(name)
        if len(values) > 1:
            raise Broken(f"{len(values)} fields {name}")
        return values[0] if values else None

    @property
    def length(self):
        """"chunked", a number of bytes, or None."""
        coding, length = self.value("transfer-encoding"), self.value("content-length")
        if coding is not None:
            if coding != "chunked" or length is not None:
                raise Broken(f"transfer-encoding {coding!r} with content-length {length!r}")
            return coding
        if length is not None and not re.fullmatch("[0-9]{1,18}", length):
            raise Broken(f"content-length {length!r}")
        return length and int(length)

    def take_body(self, data, length):
        """How many bytes of `data` belong to it; `whole` says whether that is all. None: all up to the end."""
        if length == "chunked":
            return self.take_chunks(data)
        self.body = data if length is None else data[:length]
        self.whole = length is not None and len(self.body) == length
        return len(self.body)

    def take_chunks(self, data):
        at = 0
        while True:
            line, end, _ = data[at:].partition(b"\r\n")
            if not end:
                return len(data)
            if not CHUNK_SIZE.fullmatch(line):
                raise Broken(f"chunk size {line!r}")
            size, at = int(line, 16), at + len(line) + 2
            if size == 0:
                return self.take_trailers(data, at)
            if len(data) < at + size + 2:
                self.body += data[at:at + size]
                return len(data)
            if data[at + size:at + size + 2] != b"\r\n":
                raise Broken("chunk without an end")
            self.body += data[at:at + size]
            at += size + 2

    def take_trailers(self, data, at):
        while True:
            line, end, _ = data[at:].partition(b"\r\n")
            if not end:
                return len(data)
            at += len(line) + 2
            if not line:
                self.whole = True
                return at
            self.trailers.append(self.field(line))


class Request(Message):
    """With `method` and `target`."""

    def __init__(self, head):
        super().__init__(head)
        if not (match := REQUEST_LINE.fullmatch(self.start)):
            raise Broken(f"request line {self.start!r}")
        self.method, self.target = match[1].decode(), match[2].decode()
        self.length  # refused before any of the body is there


class Answer(Message):
    """With `status`; `own` is proofd's code when it answers itself, `seen` the method and target the server saw."""

    def __init__(self, head):
        super().__init__(head)
        if not (match := STATUS_LINE.fullmatch(self.start)):
            raise Broken(f"status line {self.start!r}")
        self.status = int(match[1])
        self.own = self.value("proofd-error")
        self.seen = " ".join((self.value("seen") or "").split()[:2])

    def __repr__(self):
        return f"<{self.status} {self.own or self.seen}{'' if self.whole else ' cut'}>"


def read_request(data):
    """The request at the start of `data` and its size; (None, 0) while its head is not whole."""
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end:
        return None, 0
    request = Request(head)
    return request, len(head) + 4 + request.take_body(rest, request.length or 0)


def read_answers(data, may_be_head):
    """The answers in what came on a connection, interim ones left out; the last may be cut.

    may_be_head: one of them may answer a HEAD, so that a length need not mean a body.
    """
    answers = []
    while data:
        head, end, data = data.partition(b"\r\n\r\n")
        if not end:
            raise Broken(f"half a head: {head!r}")
        answer = Answer(head)
        if answer.status < 200:
            continue
        length = answer.length
        if answer.status in (204, 304) or (may_be_head and (not data or data.startswith(b"HTTP/1.1 "))):
            length = 0
        data = data[answer.take_body(data, length):]
        answers.append(answer)
    return answers
