#!/usr/bin/env python3
"""Many slow uploads at once: sent in small pieces, then stalled, with a token and without one. What proofd keeps of
them stays within replay_total and so much for each connection, and is given back when they leave.
"""

import asyncio
import hashlib
import resource
import socket
import threading
import unittest

from harness import SANITIZER, Proofd, Simulator, Stage, result, wait_until
from wire import Wire

REPLAY_TOTAL_KILOBYTES = 32 * 1024
BODY_BYTES = 100_000  # declared
PIECES = [b"a"] * 5 + [b"b" * 100] * 5 + [b"c" * 1_000] * 10 + [b"d" * 10_000]  # sent: 20 kB in 21 pieces
WAVES = 2
SENT_BYTES = sum(len(piece) for piece in PIECES)
# What one upload costs besides what is kept of its body: its connections, and what was read of it already; see
# replay_total in Config/proofd.example.yaml.
REST_KILOBYTES = 24
# What the allocator may keep when all have left. What it keeps after the second wave must be the same.
KEPT_KILOBYTES_MAX, KEPT_KILOBYTES_EACH = 8_192, 8
SECOND_WAVE_KILOBYTES_MAX = 4_096


class Sink:
    """An upstream that reads bodies as they come and answers with their hash."""

    def __init__(self):
        self.received = 0
        self.loop = asyncio.new_event_loop()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.port = self.listener.getsockname()[1]
        self.loop.run_until_complete(asyncio.start_server(self._serve, sock=self.listener, backlog=4096))
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
        self.listener.close()

    async def _serve(self, reader, writer):
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                left = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
                digest = hashlib.sha256()
                while left > 0:
                    if not (piece := await reader.read(min(left, 1 << 16))):
                        return
                    self.received += len(piece)
                    left -= len(piece)
                    digest.update(piece)
                body = digest.hexdigest().encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


class SlowUploads(Stage):
    uploads, limits = 500, {}

    def setUp(self):
        super().setUp()
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.simulator = Simulator(self)
        self.sink = Sink()
        self.addCleanup(self.sink.close)
        upstream = f"http://127.0.0.1:{self.sink.port}/"
        mute = socket.create_server(("127.0.0.1", 0))  # an issuer that takes connections and says nothing
        self.addCleanup(mute.close)
        absent = self.simulator.credential(endpoints={"token": f"http://127.0.0.1:{mute.getsockname()[1]}/token"})
        del absent["issuer"]
        # One for each wave: proofd waits 10 s for an issuer, and after that makes nobody wait for a while.
        waves = [f"absent{wave}" for wave in range(WAVES)]
        fixed = {"provider": "static", "token": {"env": "FIXED"}}
        self.proofd = Proofd(
            self, {"svc": self.simulator.credential(), "fixed": fixed} | dict.fromkeys(waves, absent),
            {
                "bearer": {"path": "/bearer", "upstream": upstream, "credential": "fixed"},
                "dpop": {"path": "/dpop", "upstream": upstream, "credential": "svc"},
            } | {name: {"path": f"/{name}", "upstream": upstream, "credential": name} for name in waves},
            self.simulator.environment | {"FIXED": "a-fixed-token-for-slow-uploads"},
            limits=self.limits,
        )
        for path in ("/bearer", "/dpop"):
            self.assertEqual(self.proofd.curl(path), {"200": 1})

    def test_uploads_that_are_passed_on(self):
        self.check_waves([["/bearer", "/dpop"]] * WAVES, passed_on=True)

    def test_uploads_that_wait_for_a_token(self):
        self.check_waves([[f"/absent{wave}"] for wave in range(WAVES)], passed_on=False)

    def check_waves(self, waves, passed_on):
        process = self.proofd.child
        descriptors, sizes, peaks, answered = process.descriptors, [process.memory_kilobytes()], [], 0
        for paths in waves:
            process.forget_peak()
            expected = self.sink.received + (SENT_BYTES * self.uploads if passed_on else 0)
            clients = [self.begin(paths[number % len(paths)]) for number in range(self.uploads)]
            for piece in PIECES:
                for client in clients:
                    client.send(piece)
            if passed_on:
                wait_until("all that was sent is passed on", lambda: self.sink.received == expected, 60)
            else:
                self.assertEqual(self.sink.received, expected)
            peaks.append(process.memory_kilobytes("VmHWM"))
            # All are under way still: none of them has been answered.
            self.assertEqual([record for record in self.proofd.records() if record["method"] == "POST"][answered:], [])
            if passed_on:
                self.finish(clients[0])
            for client in clients:
                client.socket.close()
            answered += self.uploads
            self.proofd.records(answered + 2)  # and the two that began
            # The simulator's and the sink's connections may stay for the next request.
            wait_until("descriptors are back", lambda: process.descriptors <= descriptors + 4, 60)
            kept = KEPT_KILOBYTES_MAX + self.uploads * KEPT_KILOBYTES_EACH
            wait_until("memory is back", lambda: SANITIZER or process.memory_kilobytes() - sizes[0] <= kept)
            sizes.append(process.memory_kilobytes())
        grown = max(peaks) - sizes[0]
        result(
            f"{self.uploads} slow uploads on {', '.join(waves[0])}: +{grown} kB at most, "
            f"{sizes[0]} kB before, {sizes[1]} kB and {sizes[2]} kB after")
        bodies = min(self.uploads * SENT_BYTES // 1024, REPLAY_TOTAL_KILOBYTES)
        self.assert_memory(grown, bodies + self.uploads * REST_KILOBYTES)
        self.assert_memory(sizes[2], sizes[1] + SECOND_WAVE_KILOBYTES_MAX, sizes)
        self.assertEqual(self.proofd.curl("/bearer"), {"200": 1})

    def begin(self, path):
        client = Wire(self.proofd.port)
        client.send(client.head("POST", f"{path}/upload", Content_Length=BODY_BYTES))
        return client

    def finish(self, client):
        """One goes on after all: it gets its answer."""
        rest = b"e" * (BODY_BYTES - SENT_BYTES)
        client.send(rest)
        answer = client.answer()
        self.assertEqual(answer.body.decode(), hashlib.sha256(b"".join(PIECES) + rest).hexdigest())


if __name__ == "__main__":
    unittest.main()
