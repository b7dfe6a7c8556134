#!/usr/bin/env python3
"""Changes what is sealed in the credential store, a bit or the place it stands in: it does not open, proofd names record and
field, sends and deletes nothing, and the other logins serve."""

import contextlib
import sqlite3
import unittest

import sealed_store
from harness import wait_until
from store_stage import StoreStage

FIELDS = {
    "refresh_token": "the refresh token", "previous_refresh_token": "the previous refresh token",
    "id_token": "the ID token", "proof_key": "the proof key",
    "authorization_server_nonce": "the authorization server's nonce", "access_token": "an access token",
}
NEXT = "Restore the store from a backup, or remove this account and log in anew."


class Damaged(StoreStage):
    def setUp(self):
        super().setUp()
        self.serve(nonces="once")
        self.request("/acme/spare", 200)  # and the login has every field by now
        self.assertEqual(self.refreshes["acme/spare"], 1)

    def change(self, sql, *values):
        with sealed_store.connect(self.database) as database:
            self.assertEqual(database.execute(sql, values).rowcount, 1, sql)

    def one(self, sql, *values):
        with sealed_store.connect(self.database) as database:
            [row] = database.execute(sql, values)
            return row[0] if len(row) == 1 else row

    def rows(self):
        """All there is, to see that nothing is deleted or changed."""
        with sealed_store.connect(self.database) as database:
            return {table: database.execute(f"SELECT * FROM {table}").fetchall() for table in ("store", "grants", "tokens")}

    def does_not_open(self, name, field, *, path=None, whoami=True):
        before = self.rows()
        detail = f"{field} of {name} does not open: it was changed or moved"
        self.is_told(
            "store_damaged", detail, NEXT, status=502, problem="token_refused", state="store_failed",
            path=path or f"/{name}", store_wide=False)
        self.assertIn(f"proofd: {detail}\n", self.verb("token", name, code=1))
        if whoami:
            self.assertEqual(self.verb("whoami", name, code=1), f"proofd: {detail}\n  {NEXT}\n")
        # It is listed and shown; what is no secret is not sealed.
        self.assertRegex(self.verb("credentials", "list"), rf"(?m)^{name} +store_failed ")
        shown = self.verb("credentials", "show", name)
        self.assertIn(detail, shown)
        self.assertRegex(shown, r"(?m)^state +store_failed$")
        self.request("/acme", 200)
        self.assertEqual(self.rows(), before)

    def field(self, table, column, account):
        """A sealed field as it is, and what sets it."""
        where = "account = ?" if table == "grants" else "grant_id = (SELECT id FROM grants WHERE account = ?)"
        sealed = self.one(f"SELECT {column} FROM {table} WHERE {where}", account)
        self.assertIsNotNone(sealed, column)
        set_to = lambda value: self.change(f"UPDATE {table} SET {column} = ? WHERE {where}", value, account)
        return sealed, set_to

    def test_a_bit_of_any_sealed_field_flipped_while_proofd_is_down(self):
        self.request("/acme/cold", 200)  # so that a start writes nothing
        for column, field in FIELDS.items():
            table = "tokens" if column == "access_token" else "grants"
            sealed, set_to = self.field(table, column, "spare")
            # The version, the nonce, the ciphertext and the tag in turn.
            for byte in (0, 1, 13, -1) if column == "refresh_token" else (-1,):
                with self.subTest(column, byte=byte):
                    self.stop()
                    set_to(sealed_store.with_a_bit_flipped(sealed, byte))
                    self.start_again()
                    self.does_not_open("acme/spare", field, whoami=table == "grants")
                    set_to(sealed)
                    self.request_in_time("/acme/spare")
        self.assertEqual(self.refreshes["acme/spare"], 1)
        self.serves_again()

    def test_a_bit_flipped_while_proofd_runs(self):
        for column in ("refresh_token", "id_token", "proof_key"):
            with self.subTest(column):
                sealed, set_to = self.field("grants", column, "cold")
                set_to(sealed_store.with_a_bit_flipped(sealed))
                self.does_not_open("acme/cold", FIELDS[column])
                # A token that is held goes on until it has to be renewed.
                other, set_other = self.field("grants", column, "spare")
                set_other(sealed_store.with_a_bit_flipped(other))
                self.request("/acme/spare", 200)
                self.assertIn("of acme/spare does not open", self.verb("whoami", "acme/spare", code=1))
                set_to(sealed)
                set_other(other)
        self.serves_again()

    def test_the_data_key(self):
        sealed = self.one("SELECT data_key FROM store")
        self.stop()
        self.change("UPDATE store SET data_key = ?", sealed_store.with_a_bit_flipped(sealed))
        before = self.rows()
        self.start_again()
        self.is_told(
            "store_key_wrong", f"the key at {self.key} is not the one the credential store was sealed with",
            "Put the right key back from a backup.", status=502, problem="token_refused", state="store_failed",
            store_wide=False)
        self.assertEqual(self.rows(), before)
        self.change("UPDATE store SET data_key = ?", sealed)
        self.serves_again()

    def request_in_time(self, path):
        wait_until("it serves again", lambda: self.proofd.curl(path + "/echo") == {"200": 1}, 10)

    def test_what_stands_in_another_place_does_not_open(self):
        """Each of these is somebody with write access to the file who wants a secret used as another's, or elsewhere."""
        spare = "WHERE account = 'spare'"
        cases = {
            "another name": ("UPDATE grants SET account = 'cold2' " + spare, "UPDATE grants SET account = 'spare' WHERE account = 'cold2'"),
            "another profile": (f"UPDATE grants SET profile = 'acme2' {spare}", f"UPDATE grants SET profile = 'acme' {spare}"),
        }
        for title, (change, back) in cases.items():
            with self.subTest(title):
                name = "acme/cold2" if title == "another name" else "acme2/spare"
                self.change(change)
                self.assertEqual(
                    self.verb("whoami", name, code=1),
                    f"proofd: the refresh token of {name} does not open: it was changed or moved\n  {NEXT}\n")
                self.change(back)
        cold = "WHERE account = 'cold'"
        for column, value in (
            ("issuer", "https://thief.example"), ("client_id", "thief"), ("origins", '["https://thief.example"]'),
            ("proof_key_thumbprint", "A" * 43), ("created_at", 1), ("session_expires_at", 4_000_000_000),
        ):
            with self.subTest(column):
                old = self.one(f"SELECT {column} FROM grants {cold}")
                self.change(f"UPDATE grants SET {column} = ? {cold}", value)
                self.does_not_open("acme/cold", "the refresh token")
                self.change(f"UPDATE grants SET {column} = ? {cold}", old)
        for column in ("refresh_token", "id_token", "proof_key"):
            with self.subTest(f"{column} of another"):
                old = self.one(f"SELECT {column} FROM grants {cold}")
                self.change(f"UPDATE grants SET {column} = (SELECT {column} FROM grants {spare}) {cold}")
                self.does_not_open("acme/cold", FIELDS[column])
                self.change(f"UPDATE grants SET {column} = ? {cold}", old)
        with self.subTest("another column"):
            old = self.one(f"SELECT id_token FROM grants {cold}")
            self.change(f"UPDATE grants SET id_token = refresh_token {cold}")
            self.does_not_open("acme/cold", "the ID token")
            self.change(f"UPDATE grants SET id_token = ? {cold}", old)
        self.serves_again()

    def test_a_row_that_is_copied_under_another_name_does_not_open(self):
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            columns = [row[1] for row in database.execute("PRAGMA table_info(grants)")]
        copied = ", ".join(
            {"id": "'BBBBBBBBBBBBBBBBBBBBBB'", "account": "'thief'", "is_default": "0"}.get(name, name) for name in columns)
        self.change(f"INSERT INTO grants SELECT {copied} FROM grants WHERE account = 'spare'")
        # The tokens with it, and one that stands under another login.
        for grant in ("'BBBBBBBBBBBBBBBBBBBBBB'", "(SELECT id FROM grants WHERE account = 'cold')"):
            self.change(
                f"INSERT INTO tokens SELECT {grant}, target, scheme, received_at_wall_ns, received_at_boot_ns, boot_id,"
                " expires_in, access_token FROM tokens WHERE grant_id = (SELECT id FROM grants WHERE account = 'spare')")
        expected = f"proofd: the refresh token of acme/thief does not open: it was changed or moved\n  {NEXT}\n"
        self.assertEqual(self.verb("whoami", "acme/thief", code=1), expected)
        self.assertIn("the refresh token of acme/thief does not open", self.verb("token", "acme/thief", code=1))
        self.does_not_open("acme/cold", "an access token", whoami=False)
        self.request("/acme/spare", 200)
        # Removed as it says, it is gone, and nothing else is.
        self.verb("credentials", "remove", "acme/thief", "--yes")
        self.change("DELETE FROM tokens WHERE grant_id = (SELECT id FROM grants WHERE account = 'cold')")
        self.serves_again()


if __name__ == "__main__":
    unittest.main()
