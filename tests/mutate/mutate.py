"""Moves each threshold by half up and down, and asks who notices: the test program that thresholds.def names, or for a
job of the zoo what is said of its recordings, which are made where they are not there yet.

A row that its holder does not notice is a number that nobody vouches for: it is named, with those unit tests that do
notice, and the exit status is 1. `make mutate` builds what this needs: thresholds that are variables.

usage: mutate.py [--moved FOLDER] [--recordings FOLDER] [--jobs N] [NAME...]"""
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
LIMIT_S = 120


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


def unnoticed(holders, threshold):
    """The moves that the row's holder does not notice."""
    return [(sign, value) for sign, value in moves(threshold)
            if holders.pass_with(threshold["held_by"], (threshold["name"], value))]


def who_notices(holders, threshold, value):
    return [name for name in holders.programs if name != threshold["held_by"]
            and "/judge/" in str(holders.programs[name][0]) and not holders.program_passes(name, (threshold["name"], value))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="thresholds; all where none is named")
    parser.add_argument("--moved", type=pathlib.Path, default=ROOT / "build/moved")
    parser.add_argument("--recordings", type=pathlib.Path, default=ROOT / "build/zoo")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    rows = [t for t in patterns.thresholds() if (not args.names or t["name"] in args.names) and t["held_by"] != "nothing"]
    holders = Holders(args.moved.resolve(), args.recordings.resolve())
    named = sorted({t["held_by"] for t in rows})
    for name in named:
        if name not in holders.programs:
            holders.record(name)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        wrong = [name for name, good in zip(named, pool.map(holders.pass_with, named)) if not good]
        if wrong:
            sys.exit("mutate: not as they should be, with no threshold moved: %s" % " ".join(wrong))
        results = list(pool.map(lambda t: unnoticed(holders, t), rows))
        loose = [(t, moved) for t, moved in zip(rows, results) if moved]
        others = list(pool.map(lambda r: [who_notices(holders, r[0], value) for _, value in r[1]], loose))
    for (threshold, moved), noticed in zip(loose, others):
        for (sign, value), by in zip(moved, noticed):
            print("%-24s %s %-12g %s does not notice; %s" % (threshold["name"], sign, value, threshold["held_by"],
                                                           " ".join(by) or "no test of the judge does"))
    print("%d thresholds, both ways: %d moves are noticed, %d are not, of %d rows" %
          (len(rows), 2 * len(rows) - sum(len(m) for _, m in loose), sum(len(m) for _, m in loose), len(loose)))
    sys.exit(bool(loose))


if __name__ == "__main__":
    main()
