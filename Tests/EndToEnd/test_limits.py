#!/usr/bin/env python3
"""At its limits proofd says so, waits or makes room; and afterwards everything is as before."""

import http.client
import os
import pathlib
import re
import resource
import selectors
import socket
import threading
import time
import unittest

from harness import Origin, Proofd, Simulator, Stage, wait_until

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


class Limits(Stage):
    def open_route(self, **settings):
        self.origin = Origin(self)
        routes = {"open": {"path": "/open", "upstream": f"http://127.0.0.1:{self.origin.port}/"}}
        return Proofd(self, {}, routes, threads=1, **settings)

    def get(self, proofd, target="/open/x", timeout=10):
        connection = http.client.HTTPConnection("127.0.0.1", proofd.port, timeout=timeout)
        connection.request("GET", target)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response

    def connect(self, proofd, text=""):
        client = socket.create_connection(("127.0.0.1", proofd.port), timeout=10)
        self.addCleanup(client.close)
        client.sendall(text.encode())
        return client

    def test_without_a_descriptor_accepting_rests_and_goes_on_when_there_is_one(self):
        proofd = self.open_route()
        self.assertEqual(self.get(proofd).status, 200)
        wait_until("nobody is connected", lambda: connections(proofd) <= 1)  # the idle one to the origin
        limit_descriptors(proofd, descriptors(proofd) + 5)
        clients = [self.connect(proofd, "GET /open/x HT") for _ in range(20)]
        wait_until("all descriptors are in use", lambda: descriptors(proofd) >= resource_limit(proofd))
        before, at = cpu_seconds(proofd), time.monotonic()
        wait_until("a second has passed", lambda: time.monotonic() > at + 1)
        self.assertLess(cpu_seconds(proofd) - before, 0.2, "it tries to accept all the time")
        for client in clients:
            client.close()
        self.assertEqual(self.get(proofd).status, 200)
        wait_until("the descriptors are free again", lambda: connections(proofd) <= 1)
        self.assertTrue(proofd.child.running)

    def test_without_a_descriptor_idle_connections_make_room(self):
        proofd = self.open_route()
        clients = [self.connect(proofd) for _ in range(6)]
        for client in clients:
            client.sendall(f"GET /open/x HTTP/1.1\r\nHost: 127.0.0.1:{proofd.port}\r\n\r\n".encode())
            self.assertIn(b" 200 ", client.recv(65536))
        limit_descriptors(proofd, descriptors(proofd))
        # What was used within the last second is left alone.
        wait_until("there is room", lambda: self.get(proofd).status == 200)
        for _ in range(3):
            self.assertEqual(self.get(proofd).status, 200)

    def test_without_a_descriptor_for_the_upstream_the_answer_is_overloaded(self):
        proofd = self.open_route()
        limit_descriptors(proofd, descriptors(proofd) + 1)
        refused = self.get(proofd)
        self.assertEqual((refused.status, refused.headers["Proofd-Error"]), (503, "overloaded"))
        self.assertEqual(refused.headers["Retry-After"], "1")
        limit_descriptors(proofd, descriptors(proofd) + 10)
        self.assertEqual(self.get(proofd).status, 200)
        self.assertEqual([record.get("error") for record in proofd.records(2)], ["overloaded", None])

    def test_idle_upstream_connections_make_room_for_one_to_another_upstream(self):
        first, second = Origin(self, "first"), Origin(self, "second")
        routes = {
            origin.child.name: {"path": f"/{origin.child.name}", "upstream": f"http://127.0.0.1:{origin.port}/"}
            for origin in (first, second)
        }
        proofd = Proofd(self, {}, routes, threads=1)
        self.assertEqual(self.get(proofd, "/first/x").status, 200)
        wait_until("only the idle one is left", lambda: connections(proofd) <= 1)
        limit_descriptors(proofd, descriptors(proofd) + 1)
        self.assertEqual(self.get(proofd, "/second/x").status, 200)

    def test_connections_that_do_not_fit_are_a_warning(self):
        origin = Origin(self)
        routes = {"open": {"path": "/open", "upstream": f"http://127.0.0.1:{origin.port}/"}}
        proofd = Proofd(self, {}, routes, threads=1, under=["prlimit", "--nofile=50:100", "--"])
        self.assertEqual(self.get(proofd).status, 200)
        self.assertEqual(resource.prlimit(proofd.child.process.pid, resource.RLIMIT_NOFILE), (100, 100))
        warning = re.findall(r"warning: limits\.connections is 10000, .* 100 open files.*", proofd.child.err.read_text())
        self.assertEqual(len(warning), 1, proofd.child.output())
        self.assertEqual(proofd.verb("check", "--config", proofd.settings).returncode, 0)

    def test_uploads_that_wait_for_a_token_stay_within_replay_total(self):
        simulator = Simulator(self)
        simulator.fault("as", {"fault": "hold", "at": "before", "gate": "token"}, next="always", path="/token")
        proofd = Proofd(
            self, {"svc": simulator.credential()},
            {"api": {"path": "/api", "upstream": simulator.api, "credential": "svc"}},
            environment=simulator.environment, threads=1, replay_limit=1 << 20, replay_total=1 << 20,
        )
        size, count = 4 << 20, 64
        clients = [
            self.connect(
                proofd, f"PUT /api/upload HTTP/1.1\r\nHost: 127.0.0.1:{proofd.port}\r\nContent-Length: {size}\r\n\r\n")
            for _ in range(count)
        ]
        before = resident_bytes(proofd)
        left = {client: size for client in clients}
        piece = bytes(1 << 16)
        for client in clients:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)  # or the system takes all
            client.setblocking(False)
        quiet_since = time.monotonic()
        while time.monotonic() < quiet_since + 1:  # nothing more is taken
            for client, rest in left.items():
                try:
                    if sent := client.send(piece[:rest]):
                        left[client] -= sent
                        quiet_since = time.monotonic()
                except BlockingIOError:
                    pass
        self.assertTrue(all(left.values()), "a whole upload was taken in while there was no token")
        # 1 MiB, 8 KiB with each head, 64 KiB that one found room for at last, and what a request under way takes.
        most = (1 << 20) + count * (8192 + 12288) + 65536
        self.assert_memory((resident_bytes(proofd) - before) / 1024, most / 1024)
        simulator.ask("POST", "/gates/token/open")
        for client in clients:
            client.setblocking(True)
            client.sendall(bytes(left[client]))
            self.assertIn(b" 200 ", client.recv(65536).split(b"\r\n")[0])

    def test_uploads_that_are_passed_on_hold_little_besides_what_is_kept(self):
        sink = Sink()
        self.addCleanup(sink.close)
        proofd = Proofd(
            self, {}, {"sink": {"path": "/sink", "upstream": f"http://127.0.0.1:{sink.port}/"}},
            threads=1, replay_limit=1 << 20, replay_total=1 << 20,
        )
        before, count, size = resident_bytes(proofd), 1000, 1 << 16
        head = f"PUT /sink/x HTTP/1.1\r\nHost: 127.0.0.1:{proofd.port}\r\nContent-Length: {2 * size}\r\n\r\n"
        for _ in range(count):
            self.connect(proofd, head + "x" * size)
        wait_until("all of it has been passed on", lambda: sink.received >= count * size)
        each = (resident_bytes(proofd) - before - 2 * (1 << 20)) / count
        print(f"result: an upload under way holds {each / 1024:.1f} KiB besides its kept body")
        self.assert_memory(each / 1024, 16)


class Sink:
    """An upstream that reads, counts, and never answers."""

    def __init__(self):
        self.received = 0
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.port = self.listener.getsockname()[1]
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.is_open = True
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while self.is_open:
            for key, _ in self.selector.select(0.1):
                if key.fileobj is self.listener:
                    self.selector.register(self.listener.accept()[0], selectors.EVENT_READ)
                elif piece := self.read(key.fileobj):
                    self.received += len(piece)
                else:
                    self.selector.unregister(key.fileobj)
                    key.fileobj.close()

    @staticmethod
    def read(peer):
        try:
            return peer.recv(1 << 16)
        except ConnectionResetError:
            return b""

    def close(self):
        self.is_open = False
        self.thread.join()
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()


def pid(proofd):
    return proofd.child.process.pid


def descriptors(proofd):
    return len(os.listdir(f"/proc/{pid(proofd)}/fd"))


def connections(proofd):
    """Its sockets that are connected to somewhere."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid(proofd)}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid(proofd)}/fd/{name}"))
        except FileNotFoundError:
            pass  # closed meanwhile
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(f"socket:[{line.split()[9]}]" in inodes and line.split()[3] != "0A" for line in lines)


def limit_descriptors(proofd, count):
    resource.prlimit(pid(proofd), resource.RLIMIT_NOFILE, (count, resource.prlimit(0, resource.RLIMIT_NOFILE)[1]))


def resource_limit(proofd):
    return resource.prlimit(pid(proofd), resource.RLIMIT_NOFILE)[0]


def cpu_seconds(proofd):
    fields = pathlib.Path(f"/proc/{pid(proofd)}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


def resident_bytes(proofd):
    """Of its own, without the pages of the program."""
    status = pathlib.Path(f"/proc/{pid(proofd)}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) * 1024


if __name__ == "__main__":
    unittest.main()
