#!/usr/bin/env python3
"""Verify DPoP proofs with implementations that are not proofd's.

Reads one JSON object a line from stdin:

    {"proof": "eyJ…", "htm": "GET", "htu": "https://api.example.com/orders",
     "access_token": "…" or "ath": "…", "nonce": "…", "jkt": "…"}

Only proof, htm and htu are required; a proof must hold `ath` and `nonce` exactly if its line names them.
Each proof goes through requests_oauth2client (claims and htu, RFC 9449 section 4.3), joserfc (strict JWS form) and
the checks below for what both forgive. Ends with "N proofs verified", or with exit code 1 at the first bad one.

    pip install requests_oauth2client joserfc
    verify_proofs.py [--leeway SECONDS] [--expect N] < proofs.jsonl
"""

import argparse
import base64
import hashlib
import json
import re
import sys

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey
from requests_oauth2client import InvalidDPoPProof, validate_dpop_proof

INPUT_MEMBERS = {"proof", "htm", "htu", "ath", "access_token", "nonce", "jkt"}
BASE64URL = re.compile(r"[A-Za-z0-9_-]+\Z")


class BadProof(Exception):
    """The proof, or the line that describes it, is not what it has to be."""


def require(condition, message):
    if not condition:
        raise BadProof(message)


def decode(segment, name):
    """Unpadded and canonical base64url: requests_oauth2client accepts padding. RFC 7515 section 2"""
    require(isinstance(segment, str) and BASE64URL.match(segment), f"{name} is not unpadded base64url")
    try:
        decoded = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except ValueError as error:
        raise BadProof(f"{name} is not base64url: {error}") from error
    require(encode(decoded) == segment, f"{name} is not canonical base64url")
    return decoded


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unique_members(pairs):
    members = dict(pairs)
    require(len(members) == len(pairs), "a member is repeated")
    return members


def parse_object(data, name):
    try:
        value = json.loads(data, object_pairs_hook=unique_members)
    except ValueError as error:
        raise BadProof(f"{name} is not JSON: {error}") from error
    require(isinstance(value, dict), f"{name} is not an object")
    return value


def expect_members(value, names, name):
    require(set(value) == names, f"{name} has {sorted(value)} and not {sorted(names)}")


def check_form(proof):
    """What the libraries forgive. Returns header and claims. RFC 9449 section 4.2, RFC 7518 sections 3.4 and 6.2"""
    require("=" not in proof, "there is padding")
    segments = proof.split(".")
    require(len(segments) == 3, f"there are {len(segments)} segments")
    header = parse_object(decode(segments[0], "the header"), "the header")
    claims = parse_object(decode(segments[1], "the payload"), "the payload")
    signature = decode(segments[2], "the signature")

    require(len(signature) == 64, f"the signature has {len(signature)} bytes")
    expect_members(header, {"typ", "alg", "jwk"}, "the header")
    require(header["typ"] == "dpop+jwt", "typ is not dpop+jwt")
    require(header["alg"] == "ES256", "alg is not ES256")
    jwk = header["jwk"]
    require(isinstance(jwk, dict), "jwk is not an object")
    expect_members(jwk, {"kty", "crv", "x", "y"}, "jwk")
    require(jwk["kty"] == "EC" and jwk["crv"] == "P-256", "jwk is not a P-256 key")
    for coordinate in ("x", "y"):
        size = len(decode(jwk[coordinate], coordinate))
        require(size == 32, f"{coordinate} has {size} bytes")
    require(type(claims.get("iat")) is int, "iat is not an integer")  # a bool is an int to isinstance
    require(isinstance(claims.get("jti"), str), "jti is not a string")
    require(len(decode(claims["jti"], "jti")) >= 12, "jti has under 96 bits")
    return header, claims


def verify(line, seen, leeway):
    """Raises BadProof unless `line` describes a good proof whose jti is not in `seen`."""
    expect_members(line, (set(line) & INPUT_MEMBERS) | {"proof", "htm", "htu"}, "the line")
    proof, ath, nonce = line["proof"], line.get("ath"), line.get("nonce")
    if token := line.get("access_token"):
        hashed = encode(hashlib.sha256(token.encode("ascii")).digest())
        require(ath in (None, hashed), "ath and access_token disagree in the line")
        ath = hashed

    header, claims = check_form(proof)
    expected = {"jti", "htm", "htu", "iat"} | ({"ath"} if ath else set()) | ({"nonce"} if nonce else set())
    expect_members(claims, expected, "the payload")
    try:
        validate_dpop_proof(
            proof, htm=line["htm"], htu=line["htu"], ath=ath, nonce=nonce, leeway=leeway, algs=["ES256"]
        )
    except InvalidDPoPProof as error:
        raise BadProof(f"requests_oauth2client: {error}") from error
    try:
        key = ECKey.import_key(header["jwk"])
        jws.deserialize_compact(proof, key, algorithms=["ES256"])
    except (JoseError, ValueError) as error:
        raise BadProof(f"joserfc: {error}") from error
    if jkt := line.get("jkt"):
        require(key.thumbprint() == jkt, "the key is not the one jkt names")
    require(claims["jti"] not in seen, "jti was used before")
    seen.add(claims["jti"])


def main():
    parser = argparse.ArgumentParser(description="Verifies DPoP proofs, one JSON object a line on stdin.")
    parser.add_argument("--leeway", type=int, default=300, help="seconds iat may be away from now (300)")
    parser.add_argument("--expect", type=int, help="fail unless there are exactly so many proofs")
    arguments = parser.parse_args()

    seen = set()
    for number, text in enumerate(sys.stdin, start=1):
        try:
            verify(parse_object(text, "the line"), seen, arguments.leeway)
        except BadProof as error:
            print(f"line {number}: {error}", file=sys.stderr)
            return 1
    if not seen or arguments.expect not in (None, len(seen)):
        print(f"{len(seen)} proofs, expected {arguments.expect or 'some'}", file=sys.stderr)
        return 1
    print(f"{len(seen)} proofs verified")
    return 0


if __name__ == "__main__":
    sys.exit(main())
