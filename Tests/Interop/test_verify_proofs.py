#!/usr/bin/env python3
"""Shows that verify_proofs.py refuses what it must: each case is one good proof with one thing wrong.

python test_verify_proofs.py, in the environment verify_proofs.py needs.
"""

import json
import secrets
import time
import unittest

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

import verify_proofs
from verify_proofs import BadProof, encode

KEY = ec.generate_private_key(ec.SECP256R1())
POINT = KEY.public_key().public_numbers()
JWK = {"kty": "EC", "crv": "P-256", "x": encode(POINT.x.to_bytes(32, "big")), "y": encode(POINT.y.to_bytes(32, "big"))}
URL = "https://api.example.com/orders"


def sign(header, claims):
    parts = [part if isinstance(part, str) else json.dumps(part) for part in (header, claims)]
    message = ".".join(encode(part.encode()) for part in parts)
    der = KEY.sign(message.encode(), ec.ECDSA(hashes.SHA256()))
    return message, der, b"".join(number.to_bytes(32, "big") for number in decode_dss_signature(der))


def line(header=None, claims=None, htm="GET", htu=URL, **more):
    message, _, raw = sign(
        {"typ": "dpop+jwt", "alg": "ES256", "jwk": JWK} | (header or {}),
        {"jti": encode(secrets.token_bytes(16)), "htm": "GET", "htu": URL, "iat": int(time.time())} | (claims or {}),
    )
    return {"proof": f"{message}.{encode(raw)}", "htm": htm, "htu": htu} | more


class VerifyProofs(unittest.TestCase):
    def refuse(self, what, described):
        with self.assertRaises(BadProof, msg=what):
            verify_proofs.verify(described, set(), leeway=60)

    def test_good_proofs_pass(self):
        token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"  # RFC 9449 section 7.1
        ath = "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"
        seen = set()
        verify_proofs.verify(line(), seen, leeway=60)
        verify_proofs.verify(line(claims={"ath": ath, "nonce": "n"}, access_token=token, nonce="n"), seen, leeway=60)
        self.assertEqual(len(seen), 2)

    def test_one_wrong_thing_is_refused(self):
        jwk = lambda **more: {"jwk": JWK | more}
        for what, described in {
            "typ": line(header={"typ": "JWT"}),
            "alg": line(header={"alg": "none"}),
            "another header member": line(header={"kid": "1"}),
            "another claim": line(claims={"exp": 1}),
            "private member": line(header=jwk(d=JWK["x"])),
            "another jwk member": line(header=jwk(kid="1")),
            "another key": line(header=jwk(x=JWK["y"], y=JWK["x"])),
            "short coordinate": line(header=jwk(x=JWK["x"][:-2])),
            "iat of type float": line(claims={"iat": time.time() + 0.5}),
            "iat of type bool": line(claims={"iat": True}),
            "iat in the past": line(claims={"iat": int(time.time()) - 600}),
            "htm": line(htm="get"),
            "htu": line(htu=URL + "/"),
            "short jti": line(claims={"jti": "AAAA"}),
            "ath that nobody asked for": line(claims={"ath": "x"}),
            "missing ath": line(access_token="x"),
            "wrong ath": line(claims={"ath": JWK["x"]}, access_token="x"),
            "empty nonce": line(claims={"nonce": ""}),
            "missing nonce": line(nonce="n"),
            "wrong nonce": line(claims={"nonce": "m"}, nonce="n"),
            "wrong jkt": line(jkt=JWK["x"]),
            "another member in the line": line(htx="?"),
        }.items():
            with self.subTest(what):
                self.refuse(what, described)

    def test_forms_that_libraries_forgive_are_refused(self):
        header = json.dumps({"typ": "dpop+jwt", "alg": "ES256", "jwk": JWK})
        claims = {"jti": encode(secrets.token_bytes(16)), "htm": "GET", "htu": URL, "iat": int(time.time())}
        message, der, raw = sign(header, claims)
        good = f"{message}.{encode(raw)}"
        repeated, _, over_repeated = sign(header[:-1] + ', "alg": "ES256"}', claims)
        for what, proof in {
            "DER": f"{message}.{encode(der)}",
            "padding": good + "==",
            "a fourth segment": good + ".",
            "a line break": good + "\n",
            "a tampered signature": f"{message}.{encode(raw[:-1] + bytes([raw[-1] ^ 1]))}",
            "a repeated member": f"{repeated}.{encode(over_repeated)}",
        }.items():
            with self.subTest(what):
                self.refuse(what, {"proof": proof, "htm": "GET", "htu": URL})

    def test_a_repeated_jti_is_refused(self):
        described, seen = line(), set()
        verify_proofs.verify(described, seen, leeway=60)
        with self.assertRaises(BadProof):
            verify_proofs.verify(described, seen, leeway=60)


if __name__ == "__main__":
    unittest.main()
