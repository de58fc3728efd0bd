"""Moves each threshold by half up and down, and asks who notices: the test program that thresholds.def names, or for a
job of the zoo what is said of its recordings, which are made where they are not there yet.

Prints a table: each row, and whether its holder notices either move; with --others, which other unit tests notice those
that it does not. A row that its holder does not notice both ways is a number that nobody vouches for: the exit status
is 1. `make mutate` builds what this needs: thresholds that are variables.

usage: mutate.py [--others] [--moved FOLDER] [--recordings FOLDER] [--jobs N] [NAME...]"""
import argparse
import ast
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import patterns  # noqa: E402
from tests.zoo import zoo  # noqa: E402

BY = 1.5
LIMIT_S = 60


def moves(threshold):
    """(sign, value) of both moves; a count moves by one at least."""
    value = eval(compile(ast.parse(threshold["value"], mode="eval"), "thresholds.def", "eval"))
    if "SEEP_RATIO(%s," % threshold["name"] in patterns.THRESHOLDS.read_text():
        return [("+", value * BY), ("-", value / BY)]
    return [("+", max(value + 1, round(value * BY))), ("-", min(value - 1, round(value / BY)))]


class Holders:
    """Whom thresholds.def may name, run with a threshold moved, or as they are."""

    def __init__(self, moved, recordings):
        self.seep, self.recordings = moved / "seep", recordings
        self.programs = {p.name: [p] for p in sorted(moved.glob("tests/**/test_*")) if p.is_file() and not p.suffix}
        self.units = list(self.programs)
        self.programs |= {p.stem: [sys.executable, "-m", "unittest", "-f", "tests.e2e." + p.stem]
                          for p in (ROOT / "tests/e2e").glob("test_*.py") if p.stem not in self.programs}
        self.tables = dict(zoo.tables())

    def environment(self, move):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SEEP_")}
        return {**kept, "SEEP": str(self.seep), **({"SEEP_MOVE": "%s:%r" % move} if move else {})}

    def program_passes(self, name, move=None):
        try:
            return subprocess.run(self.programs[name], env=self.environment(move), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=LIMIT_S, cwd=ROOT).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def folder(self, name, variant):
        return self.recordings / ("%s-%s" % (name, variant))

    def record(self, name):
        for variant in self.variants(name):
            if not (self.folder(name, variant) / "report.json").exists():
                zoo.run(name, self.tables[name], variant, self.folder(name, variant))

    def variants(self, name):
        return [v for _, _, v in zoo.variants([(name, self.tables[name])])]

    def job_passes(self, name, move=None):
        for variant in self.variants(name):
            done = subprocess.run([self.seep, "report", self.folder(name, variant), "--format", "json"],
                                  env=self.environment(move), capture_output=True, timeout=LIMIT_S)
            if done.returncode or not zoo.judge(name, self.tables[name], variant, json.loads(done.stdout),
                                                self.folder(name, variant))["ok"]:
                return False
        return True

    def pass_with(self, name, move=None):
        return (self.program_passes if name in self.programs else self.job_passes)(name, move)


def missed(holders, threshold):
    """The moves that the row's holder does not notice."""
    return [(sign, value) for sign, value in moves(threshold)
            if holders.pass_with(threshold["held_by"], (threshold["name"], value))]


def others(holders, threshold, moved):
    """The unit tests besides that notice, by the sign of the move."""
    return {sign: [name for name in holders.units if name != threshold["held_by"]
                   and not holders.program_passes(name, (threshold["name"], value))] for sign, value in moved}


def line(threshold, missed_by):
    """One row of the table; missed_by: who else notices, by the sign of each move that the holder does not notice."""
    signs = ["%s %-3s" % (sign, "no" if sign in missed_by else "yes") for sign in "+-"]
    noticed = "; ".join("%s %s" % (sign, " ".join(by) or "nobody") for sign, by in missed_by.items() if by is not None)
    return "%-24s %-18s %s  %s" % (threshold["name"], threshold["value"], "  ".join(signs),
                                   threshold["held_by"] + (" (else: %s)" % noticed if noticed else ""))


def summary(rows, missed_by):
    """How many rows there are, and how many of them are held."""
    unheard = [len(by) for by in missed_by]
    return "%d rows: %d held both ways, %d one way, %d not at all; %d of %d moves are noticed" % (
        len(rows), unheard.count(0), unheard.count(1), unheard.count(2), 2 * len(rows) - sum(unheard), 2 * len(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="thresholds; all where none is named")
    parser.add_argument("--others", action="store_true", help="ask which other unit tests notice what the holder does not")
    parser.add_argument("--moved", type=pathlib.Path, default=ROOT / "build/moved")
    parser.add_argument("--recordings", type=pathlib.Path, default=ROOT / "build/zoo")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    rows = [t for t in patterns.thresholds() if not args.names or t["name"] in args.names]
    if not rows:
        sys.exit("mutate: no such threshold")
    holders = Holders(args.moved.resolve(), args.recordings.resolve())
    named = sorted({t["held_by"] for t in rows})
    for name in named:
        if name not in holders.programs:
            holders.record(name)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        wrong = [name for name, good in zip(named, pool.map(holders.pass_with, named)) if not good]
        if wrong:
            sys.exit("mutate: not as they should be, with no threshold moved: %s" % " ".join(wrong))
        ask = others if args.others else lambda holders, threshold, moved: {sign: None for sign, _ in moved}
        results = [pool.submit(lambda t: ask(holders, t, missed(holders, t)), t) for t in rows]
        for threshold, result in zip(rows, results):
            print(line(threshold, result.result()), flush=True)
    missed_by = [result.result() for result in results]
    print(summary(rows, missed_by))
    sys.exit(any(missed_by))


if __name__ == "__main__":
    main()
