"""An origin on a raw socket: keeps every request that reached it, and answers with what a test has scripted for it."""

import asyncio
import socket
import struct

from smuggling.wire import Broken, read_request

# What a gateway settles itself: from a client these mean something else than they would to an upstream.
NEVER_FORWARDED = {"keep-alive", "proxy-connection", "upgrade", "expect", "proxy-authorization", "dpop"}
NEVER_IN_TRAILERS = NEVER_FORWARDED | {
    "connection", "te", "trailer", "content-length", "transfer-encoding", "host", "authorization", "cookie",
}


class Script:
    """An answer byte by byte as the test wants it: pieces to send, seconds to wait between them, and what comes then.

    then: "keep" goes on with the next request, "close" ends the connection, "reset" ends it rudely.
    reusable: whether another request may come on this connection.
    """

    def __init__(self, pieces, then="keep", pause=0.0, reusable=False):
        self.pieces, self.then, self.pause, self.reusable = pieces, then, pause, reusable


class RecordingOrigin:
    """Listens at once; serves as soon as an event loop runs `serve`."""

    def __init__(self, strict_fields=False):
        """strict_fields: proofd is the client, so that hop-by-hop fields and trailers are looked at, too."""
        self.strict_fields = strict_fields
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.requests, self.violations, self.scripts = [], [], {}

    async def serve(self):
        return await asyncio.start_server(self.connection, sock=self.listener)

    async def connection(self, reader, writer):
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data, poisoned_by = b"", None
        try:
            while piece := await reader.read(1 << 16):
                data += piece
                while data:
                    request, used = read_request(data)
                    if not request or not request.whole:
                        break
                    data = data[used:]
                    self.record(request, poisoned_by)
                    script = self.scripts.get(request.target)
                    if script and not script.reusable:
                        poisoned_by = request.target
                    if not await self.answer(request, script, writer):
                        return
        except Broken as broken:
            self.violations.append(f"{broken} in {data[:300]!r}")
        except (OSError, asyncio.CancelledError):
            pass  # whoever asked has left, or the test ends
        finally:
            writer.close()

    def record(self, request, poisoned_by):
        self.requests.append(request)
        if poisoned_by:
            self.violations.append(f"{request.target} on a connection that {poisoned_by} had spoilt")
        if len(request.values("host")) != 1:
            self.violations.append(f"Host of {request.target}: {request.values('host')}")
        if self.strict_fields:
            for name, _ in request.fields:
                if name in NEVER_FORWARDED:
                    self.violations.append(f"{name} of {request.target}")
            te, connection = request.values("te"), request.values("connection")
            if (te, connection) not in (([], []), (["trailers"], ["TE"])):
                self.violations.append(f"TE {te} with Connection {connection} of {request.target}")
            announced = {name.strip().lower() for value in request.values("trailer") for name in value.split(",")}
            if announced & NEVER_IN_TRAILERS:
                self.violations.append(f"Trailer of {request.target}: {announced}")
            for name, _ in request.trailers:
                if name in NEVER_IN_TRAILERS:
                    self.violations.append(f"trailer {name} of {request.target}")

    async def answer(self, request, script, writer):
        if not script:
            body = b"" if request.method == "HEAD" else f"{len(request.body)} bytes\n".encode()
            head = f"HTTP/1.1 200 OK\r\nSeen: {request.method} {request.target}\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            return True
        for index, piece in enumerate(script.pieces):
            if index:
                await asyncio.sleep(script.pause)
            writer.write(piece)
            await writer.drain()
        if script.then == "reset":
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        return script.then == "keep"
