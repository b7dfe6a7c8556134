#!/usr/bin/env python3
"""Checks Config/proofd.schema.json with an implementation that is not proofd's.

The schema is a legal one, the example is valid under it, each of the examples below with one thing wrong is not, and
the cases of Tests/Interop/schema_cases.json are valid where proofd itself says so.

    pip install jsonschema pyyaml
    check_schema.py
"""

import copy
import json
import pathlib
import sys

import yaml
from jsonschema import Draft202012Validator

CONFIG = pathlib.Path(__file__).resolve().parents[2] / "Config"

CASES = pathlib.Path(__file__).with_name("schema_cases.json")

# Where, and what is put there: not valid.
WRONG = [
    (["lisen"], "127.0.0.1:1"),
    (["listen"], "0.0.0.0:9449"),
    (["callers"], "keys"),
    (["threads"], 0),
    (["token_timeout"], 10),
    (["replay_limit"], "1MB"),
    (["routes", "Orders"], {"upstream": "https://api.example.com"}),
    (["routes", "orders", "upstrem"], "https://api.example.com"),
    (["routes", "orders", "upstream"], "ftp://api.example.com"),
    (["routes", "orders", "path"], "/orders/"),
    (["routes", "orders", "methods"], ["GET", "TRACE"]),
    (["routes", "orders", "htu_path"], "decode"),
    (["credentials", "machine", "provider"], "auth0"),
    (["credentials", "machine", "grant"], "password"),
    (["credentials", "machine", "client_secret"], "short"),
    (["credentials", "machine", "client_secret"], {"env": "A", "file": "b"}),
    (["credentials", "machine", "parameters"], {"grant_type": "x"}),
    (["credentials", "legacy", "issuer"], "https://id.example.com"),
    (["credentials", "legacy", "token"], {"command": "pass show x"}),
    (["credentials", "warehouse", "token"], {"env": "T"}),
]


def document(case):
    """The whole configuration of a case: ConfigurationTests makes the same."""
    client = {"provider": "oidc", "issuer": "https://id.example", "client_id": "x"}
    credentials = {"login": client, "machine": {**client, "grant": "client_credentials"}, "c": case.get("credential", client)}
    route = {"upstream": "https://api.example", "credential": case.get("reference", "c")}
    return {"credentials": credentials, "routes": {"r": route}, "store": case.get("store", {})}


def main():
    schema = json.loads((CONFIG / "proofd.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    example = yaml.safe_load((CONFIG / "proofd.example.yaml").read_text())
    failures = [f"example: {error.json_path}: {error.message}" for error in validator.iter_errors(example)]
    for path, value in WRONG:
        changed = copy.deepcopy(example)
        place = changed
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
        if validator.is_valid(changed):
            failures.append(f"accepted: {'.'.join(path)}: {value}")
    cases = json.loads(CASES.read_text())
    for case in cases:
        if validator.is_valid(document(case)) != case["valid"]:
            failures.append(f"{'refused' if case['valid'] else 'accepted'}: {json.dumps(case)}")
    print("\n".join(failures) or f"the example is valid, {len(WRONG)} wrong ones are not, {len(cases)} cases are as proofd says")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
