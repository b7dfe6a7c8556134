#!/usr/bin/env python3
"""Measures proofd beside nginx and prints Markdown tables. Started by run.sh; README.md has the method."""

import argparse
import datetime
import json
import pathlib
import platform
import re
import statistics
import subprocess

import bodies
import counts
import memory
import small
from bench import Bench
from measure import WAITED, WAITED_MAX, load_by_this_process

ROUNDS_MIN = 7
IN_MEMORY = "/dev/shm"  # logs and bodies: a disk that is busy would stall whoever writes
README = pathlib.Path(__file__).with_name("README.md")
RESULTS = re.compile(r"(?<=<!-- results -->\n).*(?=<!-- end of results -->)", re.DOTALL)
BENCHMARKS = {
    "small": small.small, "one": small.one_connection, "loops": small.two_loops, "proofs": counts.proofs,
    "download": bodies.download, "upload": bodies.upload, "tls": small.tls, "handshakes": small.handshakes,
    "tls-download": bodies.tls_download, "memory": memory.memory, "syscalls": counts.syscalls, "nonces": counts.nonces,
    "refreshes": counts.refreshes,
}


def first_line(*command):
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    return (finished.stdout + finished.stderr).splitlines()[0]


def circumstances(options):
    processor = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1]
    return (
        f"{datetime.date.today()}, commit {first_line('git', 'rev-parse', '--short', 'HEAD')}, {processor}, Linux "
        f"{platform.release()}, nginx {first_line('/usr/sbin/nginx', '-v').rpartition('/')[2]}, "
        f"{first_line('openssl', 'version').rpartition(' (')[0]}; "
        f"{options.rounds} rounds, turns of {options.seconds} s.\n"
    )


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if value < 0.1 else f"{value:.2f}"


def table(heading, rows):
    lines = [heading, ["---"] + ["---:"] * (len(heading) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def spread(figure):
    if len(figure.values) == 1:
        return number(figure.median)
    return f"{number(figure.median)} ({number(min(figure.values))}–{number(max(figure.values))})"


def described(outcome):
    """The medians as they are, then the ratios with the range of the rounds."""
    parts = [f"### {outcome.title}\n"]
    keys = list(dict.fromkeys(key for measures in outcome.samples.values() for key in measures if key != "requests"))
    if keys:
        parts.append(table(["median", *keys], [
            [name, *(number(statistics.median(measures[key])) if key in measures else "" for key in keys)]
            for name, measures in outcome.samples.items()
        ]))
    parts.append(table(["", "median (range)"], [[figure.text, spread(figure)] for figure in outcome.figures]))
    waited = max((statistics.median(measures.get(WAITED, [0])) for measures in outcome.samples.values()), default=0)
    if waited > WAITED_MAX:
        parts.append(f"**The machine was busy with other work** ({waited:.0f} % kept waiting): speeds say little.\n")
    parts += [note + "\n" for note in outcome.notes]
    return "\n".join(parts)


def targets(outcomes):
    """All figures that should reach something."""
    rows = [
        [
            f"{outcome.title}: {figure.text}", f"{'≤' if figure.at_least is None else '≥'} {figure.target}",
            spread(figure), figure.verdict,
        ]
        for outcome in outcomes for figure in outcome.figures if figure.target is not None
    ]
    return "### Targets\n\n" + table(["", "target", "median (range)", ""], rows) if rows else ""


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Benchmarks/run.sh", description="Measures proofd beside nginx.")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS_MIN, metavar="N", help="of each comparison; default: %(default)s")
    parser.add_argument(
        "--seconds", type=int, default=2, metavar="S", help="of load in each turn; default: %(default)s")
    parser.add_argument(
        "--only", action="append", choices=BENCHMARKS, metavar="NAME", help=f"may be repeated: {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the values of all rounds")
    parser.add_argument("--readme", action="store_true", help="put the tables of a whole run into README.md")
    parser.add_argument("--quick", action="store_true", help="one short round: shows that it works, measures nothing")
    options = parser.parse_args()
    if options.readme and (options.quick or options.only):
        parser.error("--readme is for a whole run")
    if options.quick:
        options.rounds, options.seconds = 1, 1
    elif options.rounds < ROUNDS_MIN:
        parser.error(f"fewer than {ROUNDS_MIN} rounds say nothing; --quick is for trying out")
    return options


def main():
    options = arguments()
    load_by_this_process()
    print(circumstances(options), flush=True)
    outcomes = []
    for name in options.only or BENCHMARKS:
        with Bench(IN_MEMORY) as bench:
            outcomes.append(BENCHMARKS[name](bench, options))
        print(described(outcomes[-1]), flush=True)
    print(targets(outcomes))
    if options.json:
        options.json.write_text(json.dumps([
            {
                "title": outcome.title, "samples": outcome.samples,
                "figures": {figure.text: figure.values for figure in outcome.figures},
            } for outcome in outcomes
        ], indent=1))
    if options.readme:
        results = "\n".join([circumstances(options), targets(outcomes), *map(described, outcomes)])
        README.write_text(RESULTS.sub(lambda _: results, README.read_text()))


if __name__ == "__main__":
    main()
