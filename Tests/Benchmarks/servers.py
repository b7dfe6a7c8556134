"""The servers of the benchmarks: nginx as the origin, nginx as the rival, proofd."""

import os
import subprocess

import harness
from measure import LOAD_CPU, PROXY_CPU, Proxy, pinned, with_children

BODY = '{"id":17,"status":"open","total":"129.90","currency":"EUR","n":1}'
TOKEN = "bench-bearer-token-5f0c2a9d7e1b4c86"
MANY = 1_000_000_000
GIGABYTE, HUNDRED_MEGABYTES = 1_000_000_000, 100_000_000

COMMON = """
daemon off;
{user}
worker_processes {workers};
pid {directory}/{name}.pid;
error_log {directory}/{name}.log warn;
events {{ worker_connections {connections}; }}
http {{
  client_body_temp_path {directory}/{name}-body;
  proxy_temp_path {directory}/{name}-proxy;
  fastcgi_temp_path {directory}/{name}-fastcgi;
  uwsgi_temp_path {directory}/{name}-uwsgi;
  scgi_temp_path {directory}/{name}-scgi;
  client_max_body_size 0;
  keepalive_requests {many};
{http}
}}
"""

ORIGIN = """
  access_log off;
  sendfile on;
  tcp_nopush on;
  default_type application/json;
  ssl_certificate {certificate};
  ssl_certificate_key {key};
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:sessions:1m;
  server {{
    listen 127.0.0.1:{closing} ssl;
    keepalive_timeout 0;
    location / {{ return 200 '{body}'; }}
  }}
  server {{
    listen 127.0.0.1:{plain};
    listen 127.0.0.1:{tls} ssl;
    location / {{ return 200 '{body}'; }}
    location /files/ {{ alias {files}/; default_type application/octet-stream; }}
    location /connections {{ stub_status; }}
  }}
"""

RIVAL = """
  log_format records escape=json '{{"time":"$time_iso8601","method":"$request_method","target":"$request_uri",'
    '"upstream":"$upstream_addr","status":$status,"duration":$request_time,"upstream_time":"$upstream_response_time",'
    '"request_bytes":$request_length,"response_bytes":$body_bytes_sent}}';
  access_log {directory}/{name}.access.log records buffer=64k flush=1s;
  proxy_http_version 1.1;
  proxy_ssl_protocols TLSv1.2 TLSv1.3;
  proxy_ssl_session_reuse on;
  proxy_set_header Connection "";
  proxy_set_header Authorization "Bearer {token}";
  {settings}
  upstream origin {{ server {upstream}; keepalive 64; keepalive_requests {many}; }}
  server {{
    listen 127.0.0.1:{port}{reuseport};
    location / {{ proxy_pass {scheme}://origin; }}
  }}
"""


class Nginx:
    def __init__(self, bench, name, http, cpus, workers=1, connections=1024, **values):
        directory = bench.directory
        values |= {"directory": directory, "name": name, "many": MANY}
        for port in (values[key] for key in ("port", "plain", "tls", "closing") if key in values):
            if harness.listens(port):
                raise RuntimeError(f"port {port} is taken by another process: end it first")
        configuration = bench.write(f"{name}.conf", COMMON.format(
            http=http.format(**values), user="user root;" if os.geteuid() == 0 else "", workers=workers,
            connections=connections, **values))
        self.child = bench.start(name, [
            *pinned(cpus), "/usr/sbin/nginx", "-c", configuration, "-p", directory, "-e", directory / f"{name}.log"])
        self.child.wait_for("it listens", lambda: harness.listens(values.get("port") or values["plain"]))
        self.child.wait_for("it has workers", lambda: len(self.pids) > workers)

    @property
    def pids(self):
        return with_children(self.child.process.pid)


class Origin:
    """The API behind: a small answer at every path, large files under /files/, with and without TLS. Behind
    `closing_url` each answer ends its connection."""

    def __init__(self, bench):
        directory = bench.directory
        self.certificate, key = directory / "origin.pem", directory / "origin.key"
        bench.run_command(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
            "-out", self.certificate,
        ).check_returncode()
        self.files = directory / "files"
        self.files.mkdir()
        self.port, self.tls_port, self.closing_port = (harness.free_port() for _ in range(3))
        self.url, self.tls_url, self.closing_url = (
            f"{scheme}://127.0.0.1:{port}" for scheme, port in (
                ("http", self.port), ("https", self.tls_port), ("https", self.closing_port)))
        self.server = Nginx(
            bench, "origin", ORIGIN, LOAD_CPU, plain=self.port, tls=self.tls_port, closing=self.closing_port,
            certificate=self.certificate, key=key, files=self.files, body=BODY)

    @property
    def trusted(self):
        """What a route says about its certificate."""
        return {"tls": {"ca": str(self.certificate)}}

    def file(self, byte_count):
        """A file of random content, the same in each MB."""
        path = self.files / str(byte_count)
        if not path.exists():
            megabyte = os.urandom(1_000_000)
            with path.open("wb") as file:
                for _ in range(byte_count // len(megabyte)):
                    file.write(megabyte)
        return path

    def connections_accepted(self):
        """How many connections were ever opened to it."""
        page = subprocess.run(
            ["curl", "--silent", "--fail", "--noproxy", "*", f"{self.url}/connections"], capture_output=True, text=True,
            check=True).stdout
        return int(page.splitlines()[2].split()[0])


def rival(bench, origin_port, name="nginx", cpus=PROXY_CPU, tls=False, workers=1, settings="", connections=1024):
    """nginx as a reverse proxy that adds a Bearer token and writes a buffered JSON log."""
    port = harness.free_port()
    server = Nginx(
        bench, name.replace(" ", "-"), RIVAL, cpus, workers, connections, port=port, token=TOKEN, settings=settings,
        upstream=f"127.0.0.1:{origin_port}", scheme="https" if tls else "http",
        reuseport=" reuseport" if workers > 1 else "")
    return Proxy(name, port, server.pids)


class Gateways:
    """proofd, as many as are asked for, each in front of one upstream under /api."""

    def __init__(self, bench):
        self.bench = bench
        self.simulator = None

    def bearer(self, upstream, **settings):
        credential = {"provider": "static", "token": {"env": "TOKEN"}}
        return self.start("proofd Bearer", upstream, credential, {"TOKEN": TOKEN}, **settings)

    def dpop(self, upstream, nonces="off", **settings):
        if self.simulator is None:
            self.simulator = harness.Simulator(
                self.bench, nonces=nonces, token_seconds=86_400, under=pinned(LOAD_CPU))
        credential, environment = self.simulator.credential(), self.simulator.environment
        return self.start("proofd DPoP", upstream, credential, environment, **settings)

    def bare(self, upstream, **settings):
        return self.start("proofd, no credential", upstream, None, {}, **settings)

    def start(self, name, upstream, credential, environment, cpus=PROXY_CPU, threads=1, path="/api", route=None):
        """Everything under `path` goes to `upstream` with the path kept; other settings of the route are in `route`."""
        route = {"path": path, "upstream": upstream + path} | (route or {})
        if credential:
            route["credential"] = "c"
        proofd = harness.Proofd(
            self.bench, {"c": credential} if credential else {}, {"api": route}, environment, under=pinned(cpus),
            threads=threads)
        return Proxy(name, proofd.port, [proofd.child.process.pid])
