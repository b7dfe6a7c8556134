#!/usr/bin/env python3
"""Measures proofd beside nginx and prints Markdown tables. Started by run.sh; README.md has the method."""

import argparse
import json
import pathlib
import statistics
import sys

import bodies
import counts
import memory
import small
from bench import Bench
from measure import load_by_this_process

ROUNDS_MIN = 7
BENCHMARKS = {
    "small": small.small, "one": small.one_connection, "loops": small.two_loops, "proofs": counts.proofs,
    "download": bodies.download, "upload": bodies.upload, "tls": small.tls, "tls-download": bodies.tls_download,
    "memory": memory.memory, "syscalls": counts.syscalls, "nonces": counts.nonces, "refreshes": counts.refreshes,
}


def number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if value < 0.1 else f"{value:.2f}"


def table(heading, rows):
    lines = [heading, ["---"] + ["---:"] * (len(heading) - 1), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def spread(figure):
    if len(figure.values) == 1:
        return number(figure.median)
    return f"{number(figure.median)} ({number(min(figure.values))}–{number(max(figure.values))})"


def show(outcome):
    """The medians as they are, then the ratios with the range of the rounds."""
    print(f"### {outcome.title}\n")
    keys = list(dict.fromkeys(key for measures in outcome.samples.values() for key in measures if key != "requests"))
    if keys:
        print(table(["median", *keys], [
            [name, *(number(statistics.median(measures[key])) if key in measures else "" for key in keys)]
            for name, measures in outcome.samples.items()
        ]))
    print(table(["", "median (range)"], [[figure.text, spread(figure)] for figure in outcome.figures]))
    for note in outcome.notes:
        print(note + "\n")
    sys.stdout.flush()


def show_targets(outcomes):
    """All figures that should reach something."""
    rows = [
        [
            f"{outcome.title}: {figure.text}", f"{'≤' if figure.at_least is None else '≥'} {figure.target}",
            spread(figure), figure.verdict,
        ]
        for outcome in outcomes for figure in outcome.figures if figure.target is not None
    ]
    if rows:
        print("### Targets\n")
        print(table(["", "target", "median (range)", ""], rows))


def arguments():
    parser = argparse.ArgumentParser(prog="Tests/Benchmarks/run.sh", description="Measures proofd beside nginx.")
    parser.add_argument("--rounds", type=int, default=ROUNDS_MIN, metavar="N", help="of each comparison; default: %(default)s")
    parser.add_argument("--seconds", type=int, default=2, metavar="S", help="of load in each turn; default: %(default)s")
    parser.add_argument(
        "--only", action="append", choices=BENCHMARKS, metavar="NAME", help=f"may be repeated: {', '.join(BENCHMARKS)}")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the values of all rounds")
    parser.add_argument("--quick", action="store_true", help="one short round: shows that it works, measures nothing")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 1, 1
    elif options.rounds < ROUNDS_MIN:
        parser.error(f"fewer than {ROUNDS_MIN} rounds say nothing; --quick is for trying out")
    return options


def main():
    options = arguments()
    load_by_this_process()
    outcomes = []
    for name in options.only or BENCHMARKS:
        with Bench() as bench:
            outcomes.append(BENCHMARKS[name](bench, options))
        show(outcomes[-1])
    show_targets(outcomes)
    if options.json:
        options.json.write_text(json.dumps([
            {
                "title": outcome.title, "samples": outcome.samples,
                "figures": {figure.text: figure.values for figure in outcome.figures},
            } for outcome in outcomes
        ], indent=1))


if __name__ == "__main__":
    main()
