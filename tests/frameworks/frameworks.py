"""Runs trainings of other frameworks under seep and holds the verdicts against the tables beside them.

usage: frameworks.py [--keep DIR] [--after SECONDS] [NAME...]

Each NAME.py takes leaky, fixed or healthy. NAME.toml says which packages it `needs`, what a step may be (`steps`),
which `patterns` are right of a line marked "# LEAK", and by how many bytes a step it grows (`growth`); nobody is
accused of a pattern that is `never` right. The packages are looked for in build/venv-frameworks, or in what FRAMEWORKS_PYTHON names; a job whose packages are missing is skipped.
Fixed and healthy runs accuse nobody. [known] says what seep does not find yet, and why: that is no failure.

With --after nothing is judged: each healthy job is given the arguments `endless` and ended after so many seconds, and
how large its profiles are by then is printed (tests/bench/results)."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from tests.zoo.zoo import ACCUSING, SEEP, TOLERANCE, brief, environment, watched  # noqa: E402

PYTHON = os.environ.get("FRAMEWORKS_PYTHON", str(ROOT / "build/venv-frameworks/bin/python"))
VARIANTS = ("leaky", "fixed", "healthy")


def lacking(needs):
    """The first package that cannot be imported, or None."""
    for package in needs:
        try:
            done = subprocess.run([PYTHON, "-c", "import " + package], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        except OSError:
            return PYTHON
        if done.returncode != 0:
            return package
    return None


def run(name, variant, folder):
    argv = [SEEP, "run", "-q", "-o", str(folder), "--", PYTHON, str(HERE / (name + ".py")), variant]
    status, err = watched(argv, {**environment(), "OMP_NUM_THREADS": "2"})
    if status != 0:
        raise RuntimeError("%s %s: status %s\n%s" % (name, variant, "hung" if status is None else status, err[-2000:]))
    return json.loads((folder / "report.json").read_text())


def profile_mib(folder):
    return sum(p.stat().st_size for p in folder.glob("*.seep")) / 2**20


def size_after(name, table, seconds, folder):
    """How large the profiles of an endless run are when it is ended."""
    job = [PYTHON, str(HERE / (name + ".py")), "healthy", *table["endless"]]
    argv = [SEEP, "run", "-q", "-o", str(folder), "--", "timeout", str(seconds), *job]
    watched(argv, {**environment(), "OMP_NUM_THREADS": "2"})
    job = json.loads((folder / "report.json").read_text())["job"]
    print("%-17s after %d s: %d steps by %s, profiles %.1f MiB" % (
        name, seconds, job["steps"], job["step_source"], profile_mib(folder)), flush=True)


def marked(name):
    return [i for i, line in enumerate((HERE / (name + ".py")).read_text().splitlines(), 1) if "# LEAK" in line]


def is_hit(name, table, finding):
    frame, growth = finding["frame"] or {}, finding["growth_bytes_per_step"]["value"]
    return (os.path.basename(frame.get("file") or "") == name + ".py" and frame.get("line") in marked(name) and
            finding["severity"] in ACCUSING and finding["pattern"] in table["patterns"] and
            ("growth" not in table or abs(growth / table["growth"] - 1) <= TOLERANCE))


def judge(name, table, variant, report):
    """What is wrong, as texts."""
    source, findings = report["job"]["step_source"], report["findings"]
    wrong = [] if source in table["steps"] else ["a step is: " + source]
    wrong += [brief(f) for f in findings if f["severity"] in ACCUSING and f["pattern"] in table.get("never", [])]
    if variant == "leaky":
        return wrong + ([] if any(is_hit(name, table, f) for f in findings[:3]) else ["not found"])
    return wrong + [brief(f) for f in findings if f["severity"] in ACCUSING]


def examine(name, table, variant, folder):
    """Prints one verdict. Returns which of the counts it is."""
    try:
        report = run(name, variant, folder)
    except RuntimeError as error:
        print(error)
        return "failed"
    wrong, known = judge(name, table, variant, report), table.get("known", {}).get(variant)
    word = "ok   " if not wrong else "known" if known else "WRONG"
    why = known if wrong and known else "; ".join(wrong)
    job = report["job"]
    print("%-17s %-8s %s  %d steps by %s, profiles %.1f MiB  %s" % (
        name, variant, word, job["steps"], job["step_source"], profile_mib(folder), why), flush=True)
    if wrong and not known:
        for finding in report["findings"][:4]:
            print("        " + brief(finding))
    return "passed" if not wrong else "known" if known else "failed"


def tables(names):
    """(name, table) of each job, or of those named, whose packages are there."""
    for path in sorted(HERE.glob("*.toml")):
        table = tomllib.loads(path.read_text())
        missing = lacking(table["needs"]) if not names or path.stem in names else ""
        if missing is None:
            yield path.stem, table
        elif missing:
            print("%-17s skipped: no %s" % (path.stem, missing))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--after", metavar="SECONDS", type=int)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    count = {"passed": 0, "failed": 0, "known": 0}
    n_jobs = 0
    for name, table in tables(args.names):
        n_jobs += 1
        for variant in ("healthy",) if args.after else VARIANTS:
            with tempfile.TemporaryDirectory(prefix="seep-frameworks-") as scratch:
                folder = pathlib.Path(args.keep or scratch) / ("%s-%s" % (name, variant))
                if not args.after:
                    count[examine(name, table, variant, folder)] += 1
                elif "endless" in table:
                    size_after(name, table, args.after, folder)
    if not args.after:
        skipped = len(VARIANTS) * (len(args.names or list(HERE.glob("*.toml"))) - n_jobs)
        print("%(passed)d passed, %(failed)d failed, %(known)d failed as is known" % count + ", %d skipped" % skipped)
    return count["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
