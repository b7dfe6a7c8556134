"""What a client may send to make a gateway and the server behind it count requests differently."""

from collections import namedtuple

from smuggling import bodies, heads
from smuggling.vocabulary import spell

Case = namedtuple("Case", "name raw expected")

GROUPS = [
    bodies.lengths, bodies.codings, bodies.chunks, heads.lines, heads.hosts, heads.request_lines, heads.fields,
    bodies.early_answers,
]
CASES = [Case(f"{group.__name__}: {name}", spell(raw), expected) for group in GROUPS for name, raw, expected in group()]
