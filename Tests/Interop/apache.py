"""Apache with mod_oauth2 (Debian) as an API protected by JWTs, plain or DPoP-bound: then it checks typ, htm, htu, iat,
the key and jti replay.

Its quirks: it knows neither ath nor nonces, accepts an iat 5 s old, and answers a bad proof with a Bearer challenge.
"""

from harness import Origin, free_port, listens

MODULES = ["mpm_event", "authn_core", "authz_core", "authz_user", "proxy", "proxy_http", "oauth2"]

VERIFICATION = "verify.exp=required&verify.iat=optional&expiry=1"  # a verified token is remembered for 1 s


class Apache:
    """`url` + "/dpop/…" and "/bearer/…" are protected, and forwarded to an origin that echoes."""

    def __init__(self, stage, jwks_uri):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.origin = Origin(stage)
        root = stage.directory / "apache"
        root.mkdir()
        settings = stage.write("apache.conf", configuration(root, port, self.origin, jwks_uri))
        child = stage.start("apache", ["apache2", "-f", settings, "-D", "FOREGROUND"])
        child.wait_for("it listens", lambda: listens(port))


def configuration(root, port, origin, jwks_uri):
    modules = "\n".join(f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES)
    return f"""
ServerRoot {root}
ServerName 127.0.0.1
Listen 127.0.0.1:{port}
PidFile {root}/apache.pid
ErrorLog {root}/error.log
LogLevel info
Mutex file:{root} default
DocumentRoot {root}
MaxKeepAliveRequests 0
{modules}
<Location /dpop/>
  AuthType oauth2
  OAuth2AcceptTokenIn header name=Authorization&type=DPoP
  OAuth2TokenVerify jwks_uri {jwks_uri} type=dpop&{VERIFICATION}
  Require valid-user
  ProxyPass http://127.0.0.1:{origin.port}/
</Location>
<Location /bearer/>
  AuthType oauth2
  OAuth2TokenVerify jwks_uri {jwks_uri} {VERIFICATION}
  Require valid-user
  ProxyPass http://127.0.0.1:{origin.port}/
</Location>
"""
