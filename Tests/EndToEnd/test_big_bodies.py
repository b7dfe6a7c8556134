#!/usr/bin/env python3
"""Big bodies down and up, plain and TLS, of known and unknown length, arrive as they were sent, in constant memory:
also when the one who takes them is slower than the one who sends.
"""

import hashlib
import http.client
import json
import time
import unittest

from certificates import Authority
from harness import Origin, Proofd, Simulator, Stage, result
from origin import paced, pattern

MEMORY_KILOBYTES_MAX = 20_000_000 // 1024
PIECE_BYTES = 65_536


class BigBodies(Stage):
    body_bytes = 96 << 20
    slow_cases = [("plain", "length"), ("tls", "chunked")]
    slow_bytes, slow_rate = 32 << 20, 32 << 20

    def setUp(self):
        super().setUp()
        authority = Authority(self.directory, "ours")
        trust = {"tls": {"ca": str(authority.certificate)}}
        self.simulator = Simulator(self)
        plain = Origin(self, "plain-origin")
        secure = Origin(self, "tls-origin", authority.issue("server", "localhost"))
        tls_upstream = f"https://localhost:{secure.port}/"
        self.proofd = Proofd(
            self, {"svc": self.simulator.credential()},
            {
                "plain": {"path": "/plain", "upstream": f"http://127.0.0.1:{plain.port}/"},
                "tls": {"path": "/tls", "upstream": tls_upstream} | trust,
                "dpop": {"path": "/dpop", "upstream": tls_upstream, "credential": "svc"} | trust,
            },
            self.simulator.environment,
        )

    def test_bodies_arrive_as_they_were_sent(self):
        count, expected = self.body_bytes, self.digest(self.body_bytes)
        for route in ("plain", "tls", "dpop"):
            for framing in ("length", "chunked"):
                with self.subTest(route, framing=framing):
                    seconds, digest = timed(self.download, f"/{route}/bytes/{count}", framing)
                    self.assertEqual(digest, expected)
                    up, digest = timed(self.upload, f"/{route}/upload", framing, count)
                    self.assertEqual(digest, expected)
                    result(
                        f"{count >> 20} MiB, {route}, {framing}: {count / seconds / 1e6:.0f} MB/s down, "
                        f"{count / up / 1e6:.0f} MB/s up, at most {self.memory()} kB")
        self.assert_memory(self.memory(), MEMORY_KILOBYTES_MAX)

    def test_the_slower_side_holds_the_faster_one_back(self):
        count, expected = self.slow_bytes, self.digest(self.slow_bytes)
        slow, slowest = self.slow_rate, count / self.slow_rate
        for route, framing in self.slow_cases:
            down, up = f"/{route}/bytes/{count}", f"/{route}/upload"
            calls = {
                "slow reader": (self.download, down, framing, slow),
                "slow answer": (self.download, f"{down}?rate={slow}", framing),
                "slow upstream": (self.upload, f"{up}?rate={slow}", framing, count),
                "slow sender": (self.upload, up, framing, count, slow),
            }
            for name, call in calls.items():
                with self.subTest(name, route=route, framing=framing):
                    seconds, digest = timed(*call)
                    self.assertEqual(digest, expected)
                    self.assertGreater(seconds, slowest * 0.8)
        self.assert_memory(self.memory(), MEMORY_KILOBYTES_MAX)
        result(f"{count >> 20} MiB at {slow >> 20} MiB/s, either side slow: at most {self.memory()} kB")

    def memory(self):
        return self.proofd.child.memory_kilobytes("VmHWM")

    def digest(self, count):
        digest = hashlib.sha256()
        for piece in pattern(count):
            digest.update(piece)
        return digest.hexdigest()

    def download(self, path, framing, rate=None):
        if framing == "chunked":
            path += "&chunked" if "?" in path else "?chunked"
        connection = http.client.HTTPConnection("127.0.0.1", self.proofd.port, timeout=60)
        connection.request("GET", path)
        response = connection.getresponse()
        self.assertEqual(response.status, 200, response.headers)
        self.assertEqual(response.headers["Transfer-Encoding"] == "chunked", framing == "chunked")
        digest = hashlib.sha256()
        for piece in paced(iter(lambda: response.read(PIECE_BYTES), b""), rate):
            digest.update(piece)
        connection.close()
        return digest.hexdigest()

    def upload(self, path, framing, count, rate=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.proofd.port, timeout=60)
        fields = {"Transfer-Encoding": "chunked"} if framing == "chunked" else {"Content-Length": str(count)}
        pieces = paced(pattern(count), rate)
        connection.request("PUT", path, pieces, fields, encode_chunked=framing == "chunked")
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        self.assertEqual(response.status, 200, answer)
        return json.loads(answer)["body_sha256"]


def timed(action, *arguments):
    began = time.monotonic()
    value = action(*arguments)
    return time.monotonic() - began, value


if __name__ == "__main__":
    unittest.main()
