"""Moves each constant of the lab's scenarios up and down, and asks which rows of `seep-lab verify` notice.

constants.toml is the table. A constant that no row notices in both directions is one that cannot be wrong: the exit
status is 1. What is free says why, and is not tried. Each worker builds in a copy of the tree below build/mutants.

usage: mutants.py [--jobs N] [--list] [SCENARIO | NAME]..."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/mutants/constants.toml"
NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?"
BY = 2.0
LIMIT_S = 1200
BUILT = ("obj", "gen", "flags", "libprof.a", "liblab.a", "libseep.so", "seep", "seep-lab", "python")


def table():
    return tomllib.loads(TABLE.read_text())["constant"]


def place(constant):
    """(start, end, text) of the number in its file; the pattern, with {} for it, occurs once."""
    text = (ROOT / constant["file"]).read_text()
    before, after = constant["text"].split("{}")
    hits = list(re.finditer("%s(%s)%s" % (re.escape(before), NUMBER, re.escape(after)), text))
    if len(hits) != 1:
        raise ValueError("%s: %r occurs %d times in %s" % (constant["name"], constant["text"], len(hits), constant["file"]))
    return hits[0].start(1), hits[0].end(1), hits[0].group(1)


def moves(constant):
    """(sign, new text) of both; a count moves by one at least."""
    old, by = place(constant)[2], constant.get("by", BY)
    if re.fullmatch("[0-9]+", old):
        value = int(old)
        return [("+", str(max(value + 1, round(value * by)))), ("-", str(min(value - 1, round(value / by))))]
    return [("+", repr(float(old) * by)), ("-", repr(float(old) / by))]


class Tree:
    """A copy of what the lab is built from, with what is built of it."""

    def __init__(self, number):
        self.root = ROOT / ("build/mutants/tree-%d" % number)
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        for name in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n"):
            if name and (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)
        (self.root / "build").mkdir()
        for name in BUILT:
            copy = shutil.copytree if (ROOT / "build" / name).is_dir() else shutil.copy2
            copy(ROOT / "build" / name, self.root / "build" / name)

    def build(self):
        return subprocess.run(["make", "-j1", "build/seep-lab"], cwd=self.root, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)

    def failing(self, scenario, scale):
        """The rows that fail; None where it does not build, or the run is not whole."""
        if self.build().returncode:
            return None
        done = subprocess.run(["build/seep-lab", "verify", scenario, "--scale", str(scale), "--jobs", "2", "--json"],
                              cwd=self.root, capture_output=True, text=True, timeout=LIMIT_S)
        try:
            verdict = json.loads(done.stdout)
        except ValueError:
            return None
        rows = [row["name"] for row in verdict["rows"] if not row["pass"]]
        return rows if verdict["complete"] else rows + ["(the run ended early)"]

    def moved(self, constant, new):
        start, end, _ = place(constant)
        path = self.root / constant["file"]
        text = (ROOT / constant["file"]).read_text()
        path.write_text(text[:start] + new + text[end:])
        try:
            return self.failing(constant["scenario"], constant.get("scale", 0.01))
        finally:
            path.write_text(text)


def ask(trees, constant):
    tree = trees.get()
    try:
        return [(sign, new, tree.moved(constant, new)) for sign, new in moves(constant)]
    finally:
        trees.put(tree)


def line(constant, asked):
    told = ["%s %s" % (sign, "no" if failing == [] else "yes") for sign, _, failing in asked]
    first = ["%s %s: %s" % (sign, new, "it does not run" if failing is None else failing[0] if failing else "no row")
             for sign, new, failing in asked]
    return "%-11s %-34s %-12s %s   %s" % (constant["scenario"], constant["name"], place(constant)[2], "  ".join(told),
                                          "; ".join(first))


def check(trees, rows):
    """With no constant moved all rows hold."""
    tree = trees.get()
    for scenario, scale in sorted({(c["scenario"], c.get("scale", 0.01)) for c in rows}):
        failing = tree.failing(scenario, scale)
        if failing != []:
            sys.exit("mutants: not as it should be, with no constant moved: %s: %s" % (scenario, failing))
    trees.put(tree)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="scenarios or constants; all where none is named")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="print the table, and try nothing")
    args = parser.parse_args()
    rows = [c for c in table() if not args.names or c["scenario"] in args.names or c["name"] in args.names]
    free, tried = [c for c in rows if "free" in c], [c for c in rows if "free" not in c]
    if not rows:
        sys.exit("mutants: no such constant")
    for c in rows if args.list else free:
        print("%-11s %-34s %-12s %s" % (c["scenario"], c["name"], place(c)[2], "free, because " + c["free"] if "free" in c else c["why"]))
    if args.list or not tried:
        return
    trees = queue.Queue()
    for number in range(args.jobs):
        trees.put(Tree(number))
    check(trees, tried)
    unheard = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for constant, result in zip(tried, [pool.submit(ask, trees, c) for c in tried]):
            asked = result.result()
            unheard += any(failing == [] for _, _, failing in asked)
            print(line(constant, asked), flush=True)
    print("%d constants: %d noticed both ways, %d not; %d free" % (len(rows), len(tried) - unheard, unheard, len(free)))
    sys.exit(1 if unheard else 0)


if __name__ == "__main__":
    main()
