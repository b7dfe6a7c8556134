"""nginx and Apache as the upstreams of a gateway, each on two ports: one where it answers by itself and one where it
passes requests on to a recording origin. Both log every request line they act on, at once.

Everywhere: /private/ wants a password, /files/ is a directory, a body may have 1 MiB.
"""

from harness import free_port, listens

APACHE_MODULES = [
    "mpm_event", "authn_core", "authn_file", "auth_basic", "authz_core", "authz_user", "headers", "proxy", "proxy_http",
]


class WebServer:
    def __init__(self, stage, name, origin_port, configuration):
        self.ports = {"plain": free_port(), "echo": free_port()}
        self.root = stage.directory / name
        self.root.mkdir()
        (self.root / "files").mkdir()
        stage.write(f"{name}/users", "nobody:*\n")
        text = configuration(self.root, self.ports, origin_port)
        self.child = stage.start(name, self.command(stage.write(f"{name}/server.conf", text)))
        for port in self.ports.values():
            self.child.wait_for("it listens", lambda port=port: listens(port))

    def lines(self, port_name):
        """(method, target, Host, Content-Length or "") of each request, in the order they ended."""
        path = self.root / f"{port_name}.log"
        for line in path.read_bytes().decode("latin-1").splitlines() if path.exists() else []:
            request, host, length = (part.encode("latin-1").decode("unicode_escape") for part in line.split("\t"))
            method, _, target = request.rpartition(" ")[0].partition(" ")
            yield method, target, host, length.strip("-")


class Nginx(WebServer):
    def __init__(self, stage, origin_port):
        super().__init__(stage, "nginx", origin_port, nginx_configuration)

    def command(self, settings):
        return ["nginx", "-p", self.root, "-c", settings, "-e", self.root / "error.log"]


class Apache(WebServer):
    def __init__(self, stage, origin_port):
        super().__init__(stage, "apache", origin_port, apache_configuration)

    def command(self, settings):
        return ["apache2", "-f", settings, "-D", "FOREGROUND"]


def nginx_configuration(root, ports, origin_port):
    paths = "".join(
        f"  {name}_temp_path {root}/{name};\n" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    return f"""
daemon off;
master_process off;
pid {root}/nginx.pid;
error_log {root}/error.log info;
events {{ worker_connections 1024; }}
http {{
{paths}
  log_format exact escape=default "$request\\t$http_host\\t$http_content_length";
  keepalive_requests 1000000;
  keepalive_timeout 300;
  client_max_body_size 1m;
  upstream origin {{ server 127.0.0.1:{origin_port}; keepalive 64; }}
  server {{
    listen 127.0.0.1:{ports["plain"]};
    access_log {root}/plain.log exact;
    add_header Seen "$request" always;
    location / {{ return 200 "nginx\\n"; }}
    location /files/ {{ root {root}; }}
    location /private/ {{ auth_basic private; auth_basic_user_file {root}/users; }}
  }}
  server {{
    listen 127.0.0.1:{ports["echo"]};
    access_log {root}/echo.log exact;
    location / {{
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_pass http://origin;
    }}
    location /private/ {{ auth_basic private; auth_basic_user_file {root}/users; }}
  }}
}}
"""


def apache_configuration(root, ports, origin_port):
    modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in APACHE_MODULES)
    return f"""
ServerRoot {root}
ServerName 127.0.0.1
Listen 127.0.0.1:{ports["plain"]}
Listen 127.0.0.1:{ports["echo"]}
PidFile {root}/apache.pid
ErrorLog {root}/error.log
Mutex file:{root} default
DocumentRoot {root}/files
{modules}
ServerLimit 2
StartServers 2
ThreadsPerChild 64
MaxRequestWorkers 128
KeepAliveTimeout 300
MaxKeepAliveRequests 0
LimitRequestBody 1048576
LogFormat "%r\\t%{{Host}}i\\t%{{Content-Length}}i" exact
<Location "/private/">
  AuthType Basic
  AuthName private
  AuthUserFile {root}/users
  Require valid-user
</Location>
<VirtualHost 127.0.0.1:{ports["plain"]}>
  CustomLog {root}/plain.log exact
  Header always set Seen "expr=%{{THE_REQUEST}}"
</VirtualHost>
<VirtualHost 127.0.0.1:{ports["echo"]}>
  CustomLog {root}/echo.log exact
  ProxyPreserveHost on
  AllowEncodedSlashes NoDecode
  ProxyPass / http://127.0.0.1:{origin_port}/ nocanon
</VirtualHost>
"""
