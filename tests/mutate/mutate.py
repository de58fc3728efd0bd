"""Moves each threshold by half up and down, and asks who notices: the test program that thresholds.def names.

Prints a table: each row, and whether its holder notices either move; with --others, which other unit tests notice those
that it does not. A row that its holder does not notice both ways is a number that nobody vouches for: the exit status
is 1. `make mutate` builds what this needs: thresholds that are variables.

usage: mutate.py [--others] [--moved FOLDER] [--jobs N] [NAME...]"""
import argparse
import ast
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools")]

import patterns  # noqa: E402

BY = 1.5
LIMIT_S = 60


def moves(threshold):
    """(sign, value) of both moves; a count moves by one at least."""
    value = eval(compile(ast.parse(threshold["value"], mode="eval"), "thresholds.def", "eval"))
    if "SEEP_RATIO(%s," % threshold["name"] in patterns.THRESHOLDS.read_text():
        return [("+", value * BY), ("-", value / BY)]
    return [("+", max(value + 1, round(value * BY))), ("-", min(value - 1, round(value / BY)))]


def programs_in(moved):
    return {p.name: p for p in sorted(moved.glob("tests/**/test_*")) if p.is_file() and not p.suffix}


def passes(program, move=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SEEP_")}
    if move:
        environment["SEEP_MOVE"] = "%s:%r" % move
    try:
        return subprocess.run([program], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=LIMIT_S, cwd=ROOT).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def missed(programs, threshold):
    """The moves that the row's holder does not notice."""
    return [(sign, value) for sign, value in moves(threshold)
            if passes(programs[threshold["held_by"]], (threshold["name"], value))]


def others(programs, threshold, value):
    """The unit tests besides that notice."""
    return [name for name, program in programs.items()
            if name != threshold["held_by"] and not passes(program, (threshold["name"], value))]


def ask(programs, threshold, ask_others):
    """Who else notices, by the sign of each move that the holder does not notice; None where that is not asked."""
    return {sign: others(programs, threshold, value) if ask_others else None
            for sign, value in missed(programs, threshold)}


def line(threshold, missed_by):
    """One row of the table."""
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
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    rows = [t for t in patterns.thresholds() if not args.names or t["name"] in args.names]
    if not rows:
        sys.exit("mutate: no such threshold")
    programs = programs_in(args.moved.resolve())
    named = sorted({t["held_by"] for t in rows})
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        wrong = [name for name, good in zip(named, pool.map(lambda n: n in programs and passes(programs[n]), named)) if not good]
        if wrong:
            sys.exit("mutate: not as they should be, with no threshold moved: %s" % " ".join(wrong))
        results = [pool.submit(ask, programs, t, args.others) for t in rows]
        for threshold, result in zip(rows, results):
            print(line(threshold, result.result()), flush=True)
    missed_by = [result.result() for result in results]
    print(summary(rows, missed_by))
    sys.exit(any(missed_by))


if __name__ == "__main__":
    main()
