"""Moves each constant of the lab's scenarios up and down, and asks which rows of `seep-lab verify` notice.

constants.toml is the table. A constant that no row notices in both directions is one that cannot be wrong: the exit
status is 1. So it is where a move cannot be tried: it does not build, it leaves the machine code as it was, or the run
ends early and no row fails. What is free says why, and is not tried.

A move is tried at the scenario's scales, the quickest first, until a row fails; with those of its variants that the
constant's entry names, and so of those rows alone that hold with no others. Each worker builds in a copy of the tree
below build/mutants.

usage: mutants.py [--jobs N] [--list] [SCENARIO | NAME]..."""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/mutants/constants.toml"
NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?"
BY = 2.0
LIMIT_S = 1200
BUILT = ("obj", "gen", "flags", "libprof.a", "liblab.a", "libseep.so", "seep", "seep-lab", "python")


class CannotTry(Exception):
    """What was to be tried did not come about: no row has been asked."""


@functools.cache
def whole_table():
    return tomllib.loads(TABLE.read_text())


def table():
    return whole_table()["constant"]


def scales(constant):
    return [constant["scale"]] if "scale" in constant else whole_table()["scales"][constant["scenario"]]


def runs(constant):
    """(scenario, scale, variants, epochs) in which it may be noticed."""
    return [(constant["scenario"], scale, constant.get("variants", ""), constant.get("epochs", 0))
            for scale in scales(constant)]


def is_steady(scenario, row):
    """A row that hangs on how busy the machine is may fail by chance: it notices nothing."""
    return not any(re.search(pattern, row) for pattern in whole_table()["unsteady"].get(scenario, []))


def place(constant):
    """(start, end, text) of the number in its file; the pattern, with {} for it, occurs once."""
    text = (ROOT / constant["file"]).read_text()
    before, after = constant["text"].split("{}")
    hits = list(re.finditer("%s(%s)%s" % (re.escape(before), NUMBER, re.escape(after)), text))
    if len(hits) != 1:
        raise ValueError("%s: %r occurs %d times in %s" % (constant["name"], constant["text"], len(hits),
                                                           constant["file"]))
    return hits[0].start(1), hits[0].end(1), hits[0].group(1)


def moves(constant):
    """(sign, new text) of both; a count moves by one at least."""
    old, by = place(constant)[2], constant.get("by", BY)
    if re.fullmatch("[0-9]+", old):
        value = int(old)
        return [("+", str(max(value + 1, round(value * by)))), ("-", str(min(value - 1, round(value / by))))]
    return [("+", repr(float(old) * by)), ("-", repr(float(old) / by))]


# In the place of `seep`: a variant that is not asked for leaves no report.
SOME_VARIANTS = """#!/bin/sh
case "$1 $MUTANTS_VARIANTS " in
"run  ") ;;
run*) variant=${*#* --variant }; case " $MUTANTS_VARIANTS " in *" ${variant%% *} "*) ;; *) exit 1 ;; esac ;;
esac
exec "${0%/*}/seep-whole" "$@"
"""


class Tree:
    """A copy of what the lab is built from, with what is built of it."""

    def __init__(self, number):
        self.root = ROOT / ("build/mutants/tree-%d" % number)
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        files = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                               capture_output=True, text=True, check=True).stdout.splitlines()
        for name in files:
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)
        (self.root / "build").mkdir()
        for name in BUILT:
            copy = shutil.copytree if (ROOT / "build" / name).is_dir() else shutil.copy2
            copy(ROOT / "build" / name, self.root / "build" / name)
        (self.root / "build/seep").rename(self.root / "build/seep-whole")
        (self.root / "build/seep").write_text(SOME_VARIANTS)
        (self.root / "build/seep").chmod(0o755)
        self.build()
        self.unmoved = self.code()

    def build(self):
        done = subprocess.run(["make", "-j1", "build/seep-lab"], cwd=self.root, capture_output=True, text=True)
        if done.returncode:
            raise CannotTry("it does not build: " + (done.stderr.strip().split("\n") or [""])[-1])

    def code(self):
        """A digest of instructions and data, without what is for debuggers."""
        sections = ["--only-section=" + name for name in (".text", ".rodata", ".data", ".data.rel.ro")]
        plain = self.root / "build/code"
        subprocess.run(["objcopy", "-O", "binary", *sections, "build/seep-lab", str(plain)], cwd=self.root, check=True)
        return hashlib.sha256(plain.read_bytes()).hexdigest()

    def failing(self, run):
        """{name: "NAME (EXPECTED: CAME)"} of the rows that fail in a run: scenario, scale, variants, epochs."""
        scenario, scale, only, epochs = run
        command = ["build/seep-lab", "verify", scenario, "--scale", str(scale), "--jobs", "2", "--json"]
        command += ["--epochs", str(epochs)] if epochs else []
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, timeout=LIMIT_S,
                              env={**os.environ, "MUTANTS_VARIANTS": only})
        try:
            verdict = json.loads(done.stdout)
        except ValueError as error:
            raise CannotTry("no verdict: " + done.stderr.strip()[-200:]) from error
        rows = {row["name"]: "%s (%s: %s)" % (row["name"], row["expected"], row["measured"]) for row in verdict["rows"]
                if not row["pass"] and is_steady(scenario, row["name"])}
        if not verdict["complete"] and not rows:
            raise CannotTry("the run ended early: " + done.stderr.strip()[-200:])
        return rows

    def moved(self, constant, new, broken):
        """The scale at which rows fail, and these; the last scale and none. broken: rows by run that always fail."""
        start, end, _ = place(constant)
        path = self.root / constant["file"]
        text = (ROOT / constant["file"]).read_text()
        path.write_text(text[:start] + new + text[end:])
        try:
            self.build()
            if self.code() == self.unmoved:
                raise CannotTry("the machine code is as it was")
            for run in runs(constant):
                failing = [text for name, text in self.failing(run).items() if name not in broken[run]]
                if failing:
                    break
            return run[1], failing
        finally:
            path.write_text(text)


def ask(trees, constant, broken):
    """(sign, new text, what came out) of both moves: (scale, failing rows), or a CannotTry."""
    tree, asked = trees.get(), []
    try:
        for sign, new in moves(constant):
            try:
                asked.append((sign, new, tree.moved(constant, new, broken)))
            except (CannotTry, subprocess.TimeoutExpired) as error:
                asked.append((sign, new, error))
        return asked
    finally:
        trees.put(tree)


def is_noticed(outcome):
    return not isinstance(outcome, Exception) and bool(outcome[1])


def line(constant, asked):
    told = []
    for sign, new, outcome in asked:
        if isinstance(outcome, Exception):
            text = "NOT TRIED: %s" % outcome
        elif outcome[1]:
            more = " and %d more" % (len(outcome[1]) - 1) if outcome[1][1:] else ""
            text = "at %g %s%s" % (outcome[0], outcome[1][0], more)
        else:
            text = "NO ROW"
        told.append("  %s %-12s %s" % (sign, new, text))
    return "%s: %s, %s\n%s" % (constant["scenario"], constant["name"], place(constant)[2], "\n".join(told))


def broken_rows(trees, run):
    """Rows that fail with no constant moved: none, but for those of variants that are not tried."""
    tree = trees.get()
    try:
        failing = tree.failing(run)
    finally:
        trees.put(tree)
    if failing and not run[2]:
        raise CannotTry("with no constant moved: %s at %g: %s" % (run[0], run[1], "; ".join(failing.values())))
    return run, set(failing)


def try_all(tried, jobs):
    """[(constant, what came out)]; printed as it comes."""
    trees, results = queue.Queue(), []
    for number in range(jobs):
        trees.put(Tree(number))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        broken = dict(pool.map(lambda run: broken_rows(trees, run), sorted({run for c in tried for run in runs(c)})))
        for constant, result in zip(tried, [pool.submit(ask, trees, c, broken) for c in tried]):
            results.append((constant, result.result()))
            print(line(*results[-1]), flush=True)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="scenarios or constants; all where none is named")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print the table, and try nothing")
    args = parser.parse_args()
    begin = time.monotonic()
    rows = [c for c in table() if not args.names or c["scenario"] in args.names or c["name"] in args.names]
    free, tried = [c for c in rows if "free" in c], [c for c in rows if "free" not in c]
    if not rows:
        sys.exit("mutants: no such constant")
    for c in rows if args.list else free:
        print("%-11s %-34s %-12s %s" % (c["scenario"], c["name"], place(c)[2],
                                        "free, because " + c["free"] if "free" in c else c["why"]))
    if args.list or not tried:
        return
    try:
        outcomes = [outcome for _, asked in try_all(tried, args.jobs) for _, _, outcome in asked]
    except CannotTry as error:
        sys.exit("mutants: not as it should be, %s" % error)
    noticed = sum(map(is_noticed, outcomes))
    print("%d constants: %d free; %d moves of the others: %d noticed, %d not, %d not tried (%.0f minutes)" % (
        len(rows), len(free), len(outcomes), noticed, sum(not isinstance(o, Exception) and not o[1] for o in outcomes),
        sum(isinstance(o, Exception) for o in outcomes), (time.monotonic() - begin) / 60))
    sys.exit(0 if noticed == len(outcomes) else 1)


if __name__ == "__main__":
    main()
