extension SimulatorArguments {
  static let help = """
    proofd-sim: an OAuth authorization server and a DPoP-protected API to test clients against.

    Both listen on 127.0.0.1. Ports not given are chosen by the system. When all are open, one line tells their URLs:
      proofd-sim ready as=http://127.0.0.1:40001 api=http://127.0.0.1:40002 admin=http://127.0.0.1:40003
    SIGTERM and SIGINT end it with exit code 0; 1 means that it could not start, 2 that the command line is wrong.

    Usage: proofd-sim [OPTION VALUE]...

    Ports
      --as-port N           the authorization server (metadata, /jwks, /token, /revoke, /userinfo)
      --api-port N          the API (/echo, /bytes/N, /upload, /slow, /status/N, /stream, /scope/NAME)
      --admin-port N        scripts, settings and the journal of all requests
      --no-admin            no admin port

    Tokens
      --client ID[:SECRET]  a client; without a secret a public one. May be repeated. Default: svc:service-secret
      --audience URL        an audience tokens may be asked for; the first is the default. May be repeated
      --scope NAME          a scope tokens may be asked for; without it, any. May be repeated
      --expires-in N[:FORM] lifetime in seconds, default 300; FORM of expires_in: number, string, omitted
      --token-format F      jwt (default), opaque
      --token-type TEXT     what token_type says in place of DPoP or Bearer
      --binding B           required (default): no token without a proof; optional: Bearer without one; ignored

    Refresh tokens, users, client keys: see --settings; logins nobody made: POST /grants on the admin port.

    Nonces
      --nonce MODE          off (default), once, rotate, always-challenge, same-nonce, offered; for both servers
      --as-nonce MODE, --api-nonce MODE
      --previous-nonces N   how many nonces before the newest are still accepted, default 0
      --nonce-lifetime N    seconds

    The API
      --access KIND         dpop (default), none, bearer, bearer:TOKEN, basic:USER:PASSWORD, header:NAME:VALUE,
                            query:NAME:VALUE
      --external-url URL    the URL the API believes it has: what htu must begin with

    All
      --clock-offset N      seconds both servers' clocks are ahead; negative: behind
      --seed TEXT           makes keys, nonces and opaque tokens the same in every run
      --settings FILE       JSON, as PATCH /settings on the admin port takes it
      --redact-journal      keeps secrets out of the journal
      --help

    Examples
      An API that gives a new nonce with every answer:
        proofd-sim --as-port 9461 --api-port 9462 --client demo:demo-secret --nonce rotate

      Make the next request to /echo lose its answer, then look at what arrived:
        curl http://127.0.0.1:9463/faults -d '{"match": {"path": "/echo"}, "faults": [{"fault": "drop", "at": "after"}]}'
        curl http://127.0.0.1:9463/journal

      Begin a login without a person, and see later how often it was refreshed:
        curl http://127.0.0.1:9463/grants -d '{"client_id": "demo", "key": true}'
        curl http://127.0.0.1:9463/grants

    """
}
