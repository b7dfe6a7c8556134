#!/usr/bin/env python3
"""What the daemon answers on its control socket is what Config/admin-api.yaml says, judged by jsonschema."""

import json
import pathlib
import unittest

import yaml
from jsonschema import Draft202012Validator

from harness import Origin, Proofd, Simulator, Stage, UnixConnection, wait_until

DOCUMENT = yaml.safe_load((pathlib.Path(__file__).resolve().parents[2] / "Config" / "admin-api.yaml").read_text())


def closed(schema):
    """The schema with no member allowed that it does not name: the document says all there is."""
    if isinstance(schema, dict):
        result = {name: closed(part) for name, part in schema.items()}
        if "properties" in schema:
            result["additionalProperties"] = False
        return result
    return [closed(part) for part in schema] if isinstance(schema, list) else schema


SCHEMAS = closed(DOCUMENT["components"]["schemas"])


def check(value, schema):
    Draft202012Validator({"components": {"schemas": SCHEMAS}, **closed(schema)}).validate(value)


class AdminAPI(Stage):
    def setUp(self):
        super().setUp()
        origin, self.simulator = Origin(self), Simulator(self, nonces="once")
        upstream = f"http://127.0.0.1:{origin.port}/"
        self.proofd = Proofd(
            self,
            {"machine": self.simulator.credential(scope="read", audience="https://api.example.com/"),
             "lost": {"provider": "static", "token": {"file": str(self.directory / "nowhere")}}},
            {"open": {"path": "/open", "upstream": upstream, "pass_authorization": True},
             "api": {"path": "/api", "upstream": self.simulator.api, "credential": "machine", "methods": ["GET"]},
             "lost": {"upstream": upstream, "credential": "lost"}},
            environment=self.simulator.environment)
        self.connection = UnixConnection(next(self.directory.rglob("control.sock")))
        self.addCleanup(self.connection.close)

    def get(self, path, method="GET", fields=None):
        self.connection.request(method, path, headers=fields or {})
        response = self.connection.getresponse()
        return response, response.read()

    def schema(self, path, kind="application/json"):
        return DOCUMENT["paths"][path]["get"]["responses"]["200"]["content"][kind]["schema"]

    def test_the_document_is_sound(self):
        for name, schema in SCHEMAS.items():
            with self.subTest(name):
                Draft202012Validator.check_schema(schema)

    def test_status_and_routes(self):
        self.proofd.curl("/api/echo")
        status = lambda: json.loads(self.get("/v1/status")[1])
        wait_until("both outcomes show", lambda: len({c["can_serve"] for c in status()["credentials"]}) == 2)
        check(status(), self.schema("/v1/status"))
        routes = json.loads(self.get("/v1/routes")[1])
        check(routes, self.schema("/v1/routes"))
        self.assertEqual([route["name"] for route in routes], ["open", "api", "lost"])
        self.assertIn(f"{self.proofd.url}/open", routes[0]["urls"])

    def test_accounts_and_the_lock(self):
        accounts = json.loads(self.get("/v1/accounts")[1])
        check(accounts, self.schema("/v1/accounts"))
        self.assertEqual({account["name"] for account in accounts}, {"machine", "lost"})
        check(json.loads(self.get("/v1/accounts/machine")[1]), SCHEMAS["Account"])
        check(json.loads(self.get("/v1/lock")[1]), SCHEMAS["Lock"])
        for path, method, status in [
            ("/v1/accounts/nobody", "GET", 404), ("/v1/accounts/machine/token", "POST", 403),
            ("/v1/accounts/machine/identity", "GET", 404), ("/v1/unlock", "POST", 400),
        ]:
            response, body = self.get(path, method)
            self.assertEqual(response.status, status, path)
            check(json.loads(body), SCHEMAS["Problem"])

    def test_records_in_each_form(self):
        self.proofd.curl("/api/echo")
        self.proofd.curl("/open/[1-3]?token=x")
        self.proofd.curl("/nowhere")
        self.proofd.curl("/lost/x")
        lines = lambda: self.get("/v1/records")[1].splitlines()
        wait_until("the last is there", lambda: any(b'"/lost/x"' in line for line in lines()))
        for line in lines():
            check(json.loads(line), self.schema("/v1/records", "application/x-ndjson"))
        array = json.loads(self.get("/v1/records?last=4", fields={"Accept": "application/json"})[1])
        check(array, self.schema("/v1/records"))
        self.assertEqual(array, [json.loads(line) for line in lines()[-4:]])

        self.connection.request("GET", "/v1/records?follow=true&last=2")
        response = self.connection.getresponse()
        self.assertEqual(response.getheader("Content-Type"), "text/event-stream")
        for record in array[-2:]:
            self.assertEqual(response.readline(), b"event: record\n")
            self.assertEqual(json.loads(response.readline().removeprefix(b"data: ")), record)
            self.assertEqual(response.readline(), b"\n")
        response.close()

    def test_problems(self):
        for path, method, fields, status in [
            ("/", "GET", {}, 404), ("/v1/status", "PUT", {}, 405), ("/v1/records?last=x", "GET", {}, 400),
            ("/v1/status", "GET", {"Origin": "null"}, 403), ("/v1/status", "GET", {"A": "a" * 9000}, 431),
        ]:
            response, body = self.get(path, method, fields)
            self.assertEqual(response.status, status)
            self.assertEqual(response.getheader("Content-Type"), "application/problem+json")
            problem = json.loads(body)
            check(problem, SCHEMAS["Problem"])
            self.assertEqual((problem["status"], problem["code"]), (status, response.getheader("Proofd-Error")))


if __name__ == "__main__":
    unittest.main()
