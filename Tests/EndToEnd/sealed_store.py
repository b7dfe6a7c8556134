"""Opens a credential store with nothing of proofd's: what the tests have to look for, and a second reading of its format."""

import base64
import contextlib
import hashlib
import json
import pathlib
import sqlite3

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

GRANT_COLUMNS = ("refresh_token", "previous_refresh_token", "id_token", "proof_key", "authorization_server_nonce")
SEALED_COLUMNS = {"store": ("data_key",), "grants": GRANT_COLUMNS, "tokens": ("access_token",)}


def connect(path):
    """A connection whose statements are committed one by one. The caller closes it."""
    return contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=10))


def key_of_file(path):
    header, line = pathlib.Path(path).read_text().splitlines()
    if header != "proofd store key 1":
        raise ValueError(f"{path} is no key file")
    return base64.urlsafe_b64decode(line + "=" * (-len(line) % 4))


def key_of_passphrase(path, passphrase):
    with connect(path) as database:
        salt, log_n, r, p = database.execute("SELECT scrypt_salt, scrypt_log_n, scrypt_r, scrypt_p FROM store").fetchone()
    return hashlib.scrypt(
        passphrase.encode(), salt=salt, n=1 << log_n, r=r, p=p, dklen=32, maxmem=1 << 30)


def place(*parts):
    """What a sealed field belongs to: each part with its length before it."""
    data = b""
    for part in parts:
        if part is None:
            data += b"\xff" * 4
        else:
            data += len(str(part).encode()).to_bytes(4, "big") + str(part).encode()
    return data


def open_sealed(key, sealed, *parts):
    if sealed[0] != 1:
        raise ValueError("another version")
    return AESGCM(key).decrypt(sealed[1:13], sealed[13:], b"\x01" + place("proofd", *parts))


def secrets(path, key):
    """Every secret in a store by name: `acme/work refresh_token`."""
    found = {}
    with connect(path) as database:
        database.row_factory = sqlite3.Row
        store = database.execute("SELECT * FROM store").fetchone()
        data_key = open_sealed(key, store["data_key"], store["id"], "store", "data_key")
        found["data key"] = data_key
        grants = {row["id"]: row for row in database.execute("SELECT * FROM grants")}
        for row in grants.values():
            for column in GRANT_COLUMNS:
                if row[column] is not None:
                    found[f"{row['profile']}/{row['account']} {column}"] = open_sealed(
                        data_key, row[column], store["id"], "grants", column, row["id"], row["profile"], row["account"],
                        row["issuer"], row["client_id"], row["proof_key_thumbprint"], row["created_at"],
                        row["session_expires_at"], row["origins"])
        for row in database.execute("SELECT * FROM tokens"):
            grant = grants[row["grant_id"]]
            found[f"{grant['profile']}/{grant['account']} access_token for {row['target']}"] = open_sealed(
                data_key, row["access_token"], store["id"], "tokens", "access_token", row["grant_id"], grant["profile"],
                grant["account"], row["target"], row["scheme"], row["received_at_wall_ns"], row["received_at_boot_ns"],
                row["boot_id"], row["expires_in"])
    return found


def with_a_bit_flipped(sealed, byte=-1):
    return sealed[:byte] + bytes([sealed[byte] ^ 4]) + sealed[byte:][1:]
