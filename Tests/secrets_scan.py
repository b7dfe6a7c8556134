"""Looks for secrets where none may be: in files, in processes, in captured output.

    from secrets_scan import Scan
    scan = Scan({"refresh token": token, "key": scalar})
    scan.path(state)                    # a file with its -wal, -shm and -journal, or a folder and all below it
    scan.process(daemon.pid)            # environ and cmdline of it and of all its descendants
    scan.bytes("stderr", captured)
    self.assertEqual(scan.findings, [])

As a program: secrets_scan.py --secrets FILE [--process PID] PATH...   FILE: a JSON object of names and secrets.
The exit code is 1 if anything was found. No secret is ever printed, only its name.

A secret is recognised as it is, in base64 and base64url at any offset, in hexadecimal of any case, in UTF-16, and all of
these behind percent encoding, JSON escapes and line breaks, three layers deep. The end of a long secret counts as the
secret: a store may keep the beginning on another page.
"""

import argparse
import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
from typing import NamedTuple

LAYERS_MAX = 3
PIECE_BYTES = 32 << 20
SECRET_BYTES_MIN, END_BYTES = 8, 32
JSON_ESCAPE = re.compile(rb'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
JSON_LETTERS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}


class Finding(NamedTuple):
    where: str
    secret: str
    form: str
    """What it was found in, and behind which layers."""
    offset: int
    """In the outermost layer only; behind others it counts decoded bytes."""


def base64_forms(value):
    """What depends on the value alone, with 0, 1 and 2 bytes before it."""
    for offset in range(3):
        first, end = (offset * 8 + 5) // 6, (offset + len(value)) * 8 // 6
        text = base64.b64encode(bytes(offset) + value)[first:end]
        yield f"base64 at {offset}", text
        if (url_safe := text.translate(bytes.maketrans(b"+/", b"-_"))) != text:
            yield f"base64url at {offset}", url_safe


def forms(value):
    """Names and bytes of every form but hexadecimal, which is looked for without case."""
    yield "raw", value
    if b" " in value:
        yield "spaces as plus signs", value.replace(b" ", b"+")
    try:
        text = value.decode()
        yield "UTF-16LE", text.encode("utf-16-le")
        yield "UTF-16BE", text.encode("utf-16-be")
    except UnicodeDecodeError:
        pass  # a binary secret is no text
    yield from base64_forms(value)


def unescape_json(data):
    def one(match):
        if match[1]:
            return chr(int(match[1], 16)).encode("utf-16-le", "surrogatepass")
        return JSON_LETTERS.get(match[2], match[2]).decode().encode("utf-16-le")

    def run(match):
        # Escapes side by side, so that surrogates find their other half.
        units = b"".join(one(escape) for escape in JSON_ESCAPE.finditer(match[0]))
        return units.decode("utf-16-le", "replace").encode()

    return re.sub(rb'(?:\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt]))+', run, data)


LAYERS = {
    "percent encoding": lambda data: urllib.parse.unquote_to_bytes(data) if b"%" in data else data,
    "JSON": lambda data: unescape_json(data) if b"\\" in data else data,
    "line breaks": lambda data: re.sub(rb"\r?\n[ \t]*", b"", data) if b"\n" in data else data,
}


def layers(data):
    """The data and what it reads like behind each combination of layers, each reading once."""
    readings, seen = [((), data)], {hash(data)}
    for path, reading in readings:
        yield path, reading
        if len(path) == LAYERS_MAX:
            continue
        for name, decode in LAYERS.items():
            decoded = decode(reading)
            if hash(decoded) not in seen:
                seen.add(hash(decoded))
                readings.append(((*path, name), decoded))


class Scan:
    def __init__(self, secrets):
        """secrets: names and values, text or bytes; or values alone, which are numbered then."""
        if not isinstance(secrets, dict):
            secrets = {f"secret {number}": value for number, value in enumerate(secrets)}
        self.findings = []
        self.unreadable = []
        """What could not be looked at: a test decides whether that is well."""
        self.seen = 0
        """How many bytes were looked at: a test that looked at nothing has shown nothing."""
        self.patterns, self.hexadecimal = [], []
        for name, value in secrets.items():
            value = value.encode() if isinstance(value, str) else bytes(value)
            if len(value) < SECRET_BYTES_MIN:
                raise ValueError(f"{name} is too short to be told from ordinary text")
            wholes = [("", value)]
            if len(value) > 2 * END_BYTES:
                wholes.append(("end of it, ", value[-END_BYTES:]))
            for part, whole in wholes:
                self.patterns += [(name, part + form, pattern) for form, pattern in forms(whole)]
                self.hexadecimal.append((name, part + "hexadecimal", whole.hex().encode()))
        self.overlap = max((len(pattern) * 6 for _, _, pattern in self.patterns + self.hexadecimal), default=0)

    def bytes(self, where, data):
        self.seen += len(data)
        found = {}
        for path, layer in layers(data):
            lower = layer.lower()
            for haystack, patterns in ((layer, self.patterns), (lower, self.hexadecimal)):
                for name, form, pattern in patterns:
                    offset = haystack.find(pattern)
                    while offset >= 0:
                        # What one layer shows, deeper ones show again.
                        key = (name, form) if path else (name, form, offset)
                        if path == () or not any(known[:2] == (name, form) for known in found):
                            found.setdefault(key, Finding(where, name, " behind ".join([form, *path]), offset))
                        offset = haystack.find(pattern, offset + 1)
        self.findings += found.values()

    def file(self, path):
        """One file, in pieces that overlap, so that a core file of any size can be read."""
        try:
            with open(path, "rb") as file:
                data = file.read(PIECE_BYTES)
                self.bytes(str(path), data)
                while more := file.read(PIECE_BYTES):
                    data = data[-self.overlap:] + more
                    self.bytes(str(path), data)
        except FileNotFoundError:
            pass  # gone meanwhile, as processes and temporary files go
        except OSError as error:
            self.unreadable.append(f"{path}: {error.strerror}")

    def path(self, path):
        """A file with what SQLite keeps beside it, or everything below a folder, names included."""
        path = pathlib.Path(path)
        if not path.is_dir():
            for name in [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))]:
                if name.exists() or name == path:
                    self.file(name)
            return
        for folder, folders, files in os.walk(path):
            for name in folders + files:
                self.bytes(f"the name of a file in {folder}", os.fsencode(name))
            for name in files:
                member = pathlib.Path(folder, name)
                if member.is_file() and not member.is_symlink():
                    self.file(member)

    def process(self, pid):
        """The arguments and the environment of a process and of everything it started that still runs."""
        for member in [pid, *descendants(pid)]:
            self.file(f"/proc/{member}/cmdline")
            self.file(f"/proc/{member}/environ")


def descendants(pid):
    for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            own = children.read_text().split()
        except OSError:
            continue  # the thread has ended
        for child in own:
            yield int(child)
            yield from descendants(int(child))


class SelfTest(unittest.TestCase):
    secret = "s3cr3t \"qüote\"/+~>?-value"
    long = "eyJhbGciOiJub25lIn0." + "abcdefghijklmnopqrstuvwxyz" * 5 + ".3nd-0f-th3-t0k3n-that-is-its-own"

    def found(self, data, secrets=None):
        scan = Scan(secrets or {"it": self.secret})
        scan.bytes("here", data if isinstance(data, bytes) else data.encode())
        return [finding.form for finding in scan.findings]

    def test_every_form_is_found_wherever_it_stands(self):
        raw = self.secret.encode()
        cases = {
            "raw": [raw],
            "spaces as plus signs": [raw.replace(b" ", b"+")],
            "UTF-16LE": [self.secret.encode("utf-16-le")],
            "UTF-16BE": [self.secret.encode("utf-16-be")],
            "hexadecimal": [raw.hex().encode(), raw.hex().upper().encode(), raw.hex().title().encode()],
        }
        for form, texts in cases.items():
            for text in texts:
                self.assertEqual(self.found(b"before<" + text + b">behind"), [form])

    def test_base64_is_found_at_every_offset_and_in_lines(self):
        for before in range(6):
            for encode in (base64.b64encode, base64.urlsafe_b64encode, base64.encodebytes):
                text = encode(b"u" * before + self.secret.encode() + b"w" * 60)
                forms = self.found(text)
                self.assertEqual(len(forms), 1, (before, encode, forms))
                self.assertIn(f" at {before % 3}", forms[0])

    def test_layers_of_encoding_are_taken_off(self):
        quote = urllib.parse.quote
        every = "".join(f"%{byte:02x}" for byte in self.secret.encode())
        escaped = "".join(f"\\u{unit:04X}" for unit in map(ord, self.secret))
        for text in (
            quote(self.secret), quote(self.secret, safe=""), quote(quote(self.secret, safe="")), every,
            json.dumps(self.secret), json.dumps(json.dumps(self.secret)), quote(json.dumps(self.secret)), escaped,
            json.dumps({"url": "https://a.example/?x=" + quote(self.secret)}),
            quote(base64.b64encode(self.secret.encode())),
        ):
            self.assertEqual(len(self.found(f"a {text} b")), 1, text)
        emoji = "secret-\U0001F511-secret"
        self.assertEqual(len(self.found(json.dumps(emoji), {"it": emoji})), 1)

    def test_each_occurrence_is_reported_with_its_place_and_never_with_the_secret(self):
        scan = Scan([self.secret, "another-secret"])
        scan.bytes("log", f"{self.secret} and {self.secret}".encode())
        self.assertEqual([(finding.secret, finding.offset) for finding in scan.findings], [
            ("secret 0", 0), ("secret 0", len(self.secret.encode()) + 5)])
        self.assertNotIn("s3cr3t", repr(scan.findings))

    def test_the_end_of_a_long_secret_is_enough(self):
        self.assertEqual(self.found(self.long[-40:], [self.long]), ["end of it, raw"])
        self.assertEqual(self.found(self.long[:60], [self.long]), [])
        self.assertEqual(self.found(base64.b64encode(self.long[-50:].encode()), [self.long])[0][:14], "end of it, bas")

    def test_what_only_resembles_a_secret_is_nothing(self):
        for text in ("", self.secret[:-1], self.secret[1:], self.secret.upper(), "%zz\\u12\\q"):
            self.assertEqual(self.found(text), [])
        with self.assertRaises(ValueError):
            Scan(["short"])

    def test_files_are_read_with_what_stands_beside_them(self):
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder, "store.sqlite")
            for end in ("", "-wal", "-shm", "-journal", "-other"):
                store.with_name(store.name + end).write_bytes(b"\0" * 5_000 + self.secret.encode())
            scan = Scan([self.secret])
            scan.path(store)
            self.assertEqual(sorted(pathlib.Path(finding.where).name for finding in scan.findings), [
                "store.sqlite", "store.sqlite-journal", "store.sqlite-shm", "store.sqlite-wal"])
            pathlib.Path(folder, "in", "deep").mkdir(parents=True)
            pathlib.Path(folder, "in", "deep", "file-another-secret").write_bytes(b"")
            scan = Scan([self.secret, "another-secret"])
            scan.path(folder)
            self.assertEqual(len(scan.findings), 6)
            self.assertEqual(scan.unreadable, [])

    def test_a_secret_across_two_pieces_of_a_large_file_is_found(self):
        with tempfile.NamedTemporaryFile() as file:
            file.seek(PIECE_BYTES - 10)
            file.write(self.secret.encode())
            file.flush()
            scan = Scan([self.secret])
            scan.path(file.name)
            self.assertEqual(len(scan.findings), 1)

    def test_processes_are_looked_at_down_to_the_last_child(self):
        script = "import subprocess, sys; subprocess.run(['sleep', '30'], env={'X': sys.stdin.readline()})"
        child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE)
        try:
            child.stdin.write(self.secret.encode() + b"\n")
            child.stdin.close()
            deadline = time.monotonic() + 20
            scan = Scan([self.secret])
            while not scan.findings and time.monotonic() < deadline:
                time.sleep(0.02)
                scan.process(child.pid)
            self.assertTrue([finding for finding in scan.findings if finding.where.endswith("/environ")])
        finally:
            for pid in descendants(child.pid):
                os.kill(pid, 9)
            child.wait()

    def test_what_cannot_be_read_is_said(self):
        scan = Scan([self.secret])
        scan.path("/proc/self/mem")  # its first page is nobody's
        self.assertEqual(len(scan.unreadable), 1)
        self.assertEqual(scan.seen, 0)


def main():
    if "--self-test" in sys.argv:
        return unittest.main(argv=[sys.argv[0]])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--secrets", required=True, type=pathlib.Path, help="a JSON object of names and secrets")
    parser.add_argument("--process", action="append", default=[], type=int, help="a process, with its descendants")
    parser.add_argument("--self-test", action="store_true", help="test this program")
    parser.add_argument("paths", nargs="*", help="files and folders")
    arguments = parser.parse_args()
    scan = Scan(json.loads(arguments.secrets.read_text()))
    for path in arguments.paths:
        scan.path(path)
    for pid in arguments.process:
        scan.process(pid)
    for finding in scan.findings:
        print(f"{finding.where}: {finding.secret}, {finding.form}, at {finding.offset}")
    for reason in scan.unreadable:
        print(f"not read: {reason}", file=sys.stderr)
    print(f"{len(scan.findings)} found in {scan.seen} bytes", file=sys.stderr)
    return 1 if scan.findings else 0


if __name__ == "__main__":
    sys.exit(main())
