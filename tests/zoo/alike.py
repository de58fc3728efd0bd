"""Runs jobs of the zoo again and again, copied after the same step, and compares who is said to hold what the marked
lines made: addresses, hashes and threads differ from run to run, answers must not. Only which blocks of C++ lie between
is not compared: words alone lead through them.

usage: alike.py [--runs N] [NAME...]      prints each answer and how many runs gave it"""
import argparse
import collections
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from tests.zoo import holders, zoo  # noqa: E402

STEPS, COPIED = "45", "40"
JOBS = ("replay_buffer", "logger_images", "prediction_history", "cyclic_modules", "total_loss")


def answer(name):
    """{line: answer} of the marked lines, by one snapshot."""
    with tempfile.TemporaryDirectory(prefix="seep-alike-") as scratch:
        folder = pathlib.Path(scratch) / "profile"
        status, err = zoo.watched([zoo.SEEP, "run", "-q", "--holders", COPIED, "-o", str(folder), "--", zoo.PYTHON,
                                   str(zoo.ZOO / (name + ".py")), "leaky", "--steps", STEPS], zoo.environment())
        if status != 0:
            raise RuntimeError("%s: status %s\n%s" % (name, status, err[-2000:]))
        found, marked = {}, zoo.marked_lines(name)
        for path in folder.glob("holders-*.json"):
            for line in json.loads(path.read_text())["lines"]:
                frame = line["frame"] or {}
                if frame.get("line") in marked and pathlib.Path(frame["file"]).stem == name:
                    found[frame["line"]] = re.sub(r" → C\+\+[^|]*", " → C++ ", holders.brief(line)).strip()
        return found


def answers(name, runs):
    """{line: Counter of its answers}"""
    counts = collections.defaultdict(collections.Counter)
    for _ in range(runs):
        for line, text in answer(name).items():
            counts[line][text] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description="run jobs of the zoo several times and compare who holds what")
    parser.add_argument("names", nargs="*", default=JOBS)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    for name in args.names:
        for line, texts in sorted(answers(name, args.runs).items()):
            for text, n in texts.most_common():
                print("%s:%d %d of %d  %s" % (name, line, n, args.runs, text), flush=True)


if __name__ == "__main__":
    main()
