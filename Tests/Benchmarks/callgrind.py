"""Reads what `valgrind --tool=callgrind --compress-strings=no --compress-pos=no` writes.

The format: https://valgrind.org/docs/manual/cl-format.html
"""

import collections
import re
import subprocess

NAMELESS = "functions without a name"  # of a stripped library, counted as one


class Costs:
    """Instructions by function. `own` are a function's own; `total` has those of what it called, too."""

    def __init__(self):
        self.own, self.total = collections.Counter(), collections.Counter()

    @classmethod
    def read(cls, path):
        costs = cls()
        function, callee, program = None, None, ""
        for line in path.open():
            if line.startswith("ob="):
                program = line.rstrip().rpartition("/")[2]
            elif line.startswith("fn="):
                function = line[3:].strip()
                if function.startswith("0x"):
                    function = f"{NAMELESS} in {program}"
            elif line.startswith("cfn="):
                callee = line[4:].strip()
            elif line[0].isdigit():
                instructions = int(line.split()[1])
                if callee is None:
                    costs.own[function] += instructions
                elif callee == function:  # a recursion's costs are in there already
                    instructions = 0
                costs.total[function] += instructions
                callee = None
        return costs

    def less(self, other):
        """What remains when the costs of a shorter run are taken away."""
        rest = Costs()
        rest.own, rest.total = self.own.copy(), self.total.copy()
        rest.own.subtract(other.own)
        rest.total.subtract(other.total)
        return rest

    @property
    def instructions(self):
        return sum(self.own.values())


def readable(names):
    """Swift's mangled names as a reader knows them, shortened."""
    finished = subprocess.run(
        ["swift", "demangle", "--simplified", "--compact"],
        input="\n".join(re.sub(r"'\d+$", "", name) for name in names), capture_output=True, text=True, check=True,
    )
    return [name if len(name) <= 150 else name[:149] + "…" for name in finished.stdout.splitlines()]


def profile(costs, requests, count):
    """The most expensive functions as text, in instructions a request: by their own, then with what they call."""
    sections = []
    for title, counter in (("own", costs.own), ("with what it calls", costs.total)):
        if counter is costs.total:  # they call each other, so a sum would count twice
            counter = collections.Counter({name: cost for name, cost in counter.items() if NAMELESS not in name})
        top = counter.most_common(count)
        names = readable([name for name, _ in top])
        lines = [
            f"{cost / requests:10,.0f} {100 * cost / costs.instructions:5.1f} %  {name}"
            for (_, cost), name in zip(top, names)
        ]
        sections.append("\n".join([f"Instructions a request, {title}:", *lines]))
    return "\n\n".join(sections) + "\n"
