"""Runs jobs written after public reports under seep and scores what it says of them.

usage: score.py [--jobs N] [--keep DIR] [--set open|aside|gpu] [--env NAME=VALUE]... [--plain|--snapshots] [-v] [NAME...]

Scores: of the leaking jobs, how many have a marked line ("# LEAK" makes what stays, "HELD" keeps it) among the first
three findings, how many of these are accused, and how many of those by a pattern that the table takes for right; of
fixed and healthy jobs, how many are accused of anything. With --keep, what DIR already holds is not run again, only
judged anew. NAME may be the beginning of one. Jobs are run by $PYTHON, with --env in their environment; the set "gpu"
wants a PyTorch for CUDA. --plain runs them without seep and says how they ended; --snapshots runs them without seep, too,
and judges the memory snapshots that PyTorch writes of them."""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib

REPORTS = pathlib.Path(__file__).resolve().parent
RECORDER = REPORTS / "recorder"
SETS = {"open": REPORTS / "open", "aside": REPORTS / "aside", "gpu": REPORTS.parent / "gpu"}
sys.path.insert(0, str(REPORTS.parents[2]))

from tests.e2e.support import kill_session  # noqa: E402
from tests.zoo import holders, zoo  # noqa: E402

FIRST = 3


def jobs(folder, names=()):
    """(script, table) of each job of a folder, or of those named."""
    found = [(path.with_suffix(".py"), tomllib.loads(path.read_text())) for path in sorted(folder.glob("*.toml"))]
    return [(script, table) for script, table in found if not names or script.stem.startswith(tuple(names))]


def marked(script):
    return {i for i, line in enumerate(script.read_text().splitlines(), 1) if re.search(r"#.*\b(LEAK|HELD)\b", line)}


def command(script, table, variant):
    return [zoo.PYTHON, str(script), *map(str, table[variant].get("args", []))]


def report_of(script, table, variant, folder, env):
    """Its report by today's rules; it is run where there is no profile yet."""
    if not (folder / "report.json").exists():
        argv = [zoo.SEEP, "run", "-q", "-o", str(folder), "--", *command(script, table, variant)]
        status, err = zoo.watched(argv, {**zoo.environment(), **env})
        if not (folder / "report.json").exists():
            raise RuntimeError("%s: status %s\n%s" % (script.name, status, err[-2000:]))
    done = subprocess.run([zoo.SEEP, "report", "--format", "json", str(folder)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def snapshot_report_of(script, table, variant, folder, env):
    """The report of what PyTorch itself has written of a job that ran without seep."""
    if not list(folder.glob("*.pickle")):
        folder.mkdir(parents=True, exist_ok=True)
        python = ":".join(map(str, (RECORDER, pathlib.Path(zoo.SEEP).parent / "python")))
        status, err = zoo.watched(command(script, table, variant), {**zoo.environment(), **env, "PYTHONPATH": python,
                                                                    "TORCH_SNAPSHOT": str(folder / "process-%d.pickle")})
        if not list(folder.glob("*.pickle")):
            raise RuntimeError("%s: no snapshot, status %s\n%s" % (script.name, status, err[-2000:]))
    done = subprocess.run([zoo.SEEP, "report", "--format", "json", str(folder)], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def lines_of(finding):
    """What a finding points to: where its memory is made, and where it is kept."""
    return [frame for frame in [finding["frame"], *(finding.get("kept_at") or [])] if frame]


def is_hit(finding, script, lines):
    return any(os.path.basename(frame.get("file") or "") == script.name and frame.get("line") in lines
               for frame in lines_of(finding))


def ended(report):
    """How the job's first process ended: a job that breaks off early says nothing of seep."""
    pids = {p["pid"] for p in report["processes"]}
    return next((p["exit"]["value"] for p in report["processes"] if p["ppid"] not in pids), None)


def judge(script, table, variant, report):
    findings = report["findings"]
    accusing = [f for f in findings if f["severity"] in (*zoo.ACCUSING, table[variant].get("severity"))]
    result = {"job": script.stem, "variant": variant, "findings": findings, "report": report["job"],
              "broken": not report["job"]["torch_snapshots"] and ended(report) != table[variant].get("status", 0)}
    if variant != "leaky":
        return {**result, "accused": bool(accusing), "ok": not accusing}
    hits = [f for f in findings if is_hit(f, script, marked(script))]
    accused = [f for f in hits if f in accusing]
    result.update(named=any(f in findings[:FIRST] for f in hits), accused=bool(accused),
                  pattern=any(f["pattern"] in table["patterns"] for f in accused))
    return {**result, "ok": result["named"] and result["accused"] and result["pattern"]}


def examine(find_report, script, table, variant, keep, env):
    with tempfile.TemporaryDirectory(prefix="seep-reports-") as scratch:
        folder = pathlib.Path(keep or scratch) / ("%s-%s" % (script.stem, variant))
        return judge(script, table, variant, find_report(script, table, variant, folder, env))


def try_plainly(script, table, variant, env):
    began = time.monotonic()
    status, err = zoo.watched(command(script, table, variant), {**zoo.environment(), **env})
    ok = status == table[variant].get("status", 0)
    seconds = time.monotonic() - began
    print("%-4s %-30s %-8s %5.1f s  status %s %s" % (
        "ok" if ok else "BAD", script.stem, variant, seconds, status, "" if ok else err[-2000:]), flush=True)
    return ok


def print_result(result, verbose):
    if result["ok"] and not result["broken"] and not verbose:
        return
    words = [] if result["variant"] != "leaky" else [k for k in ("named", "accused", "pattern") if not result[k]]
    words += ["ended as it should"] if result["broken"] else []
    print("%-4s %-30s %-8s %s %s  %s" % (
        "ok" if result["ok"] else "BAD", result["job"], result["variant"], result["report"]["step_source"],
        result["report"]["steps"], "not " + ", ".join(words) if words else ""), flush=True)
    for finding in result["findings"][:FIRST + 1]:
        print("       %s  [%s]" % (zoo.brief(finding), holders.brief(finding.get("holders"))), flush=True)


def print_scores(results):
    leaky = [r for r in results if r["variant"] == "leaky"]
    quiet = [r for r in results if r["variant"] != "leaky"]
    accused = [r for r in leaky if r["accused"]]
    print("\nnamed among the first %d  %s" % (FIRST, zoo.share(sum(r["named"] for r in leaky), len(leaky))))
    print("accused                  %s" % zoo.share(len(accused), len(leaky)))
    print("right pattern            %s" % zoo.share(sum(r["pattern"] for r in accused), len(accused)))
    print("false accusations        %d on %d fixed and healthy jobs" % (sum(r["accused"] for r in quiet), len(quiet)))
    broken = ["%s %s" % (r["job"], r["variant"]) for r in results if r["broken"]]
    if broken:
        print("did not end as they should: " + ", ".join(broken))


def in_parallel(jobs_at_once, calls, take):
    """Runs each call (function, arguments); what it gives goes to take() as it comes."""
    with concurrent.futures.ThreadPoolExecutor(jobs_at_once) as pool:
        try:
            for done in concurrent.futures.as_completed([pool.submit(*call) for call in calls]):
                take(done.result())
        except BaseException:  # Ctrl-C, too, which sessions of their own do not hear
            pool.shutdown(wait=False, cancel_futures=True)
            for session in list(zoo.running):
                kill_session(session)
            raise


def arguments():
    parser = argparse.ArgumentParser(description="run jobs written after public reports, and score the verdicts")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="folder for the profiles; those in it are judged anew")
    parser.add_argument("--set", choices=SETS, default="open")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="of the jobs")
    parser.add_argument("--plain", action="store_true", help="without seep: do they run?")
    parser.add_argument("--snapshots", action="store_true", help="without seep: judge what PyTorch writes of them")
    parser.add_argument("-v", "--verbose", action="store_true", help="show what is right, too")
    return parser.parse_args()


def main():
    args = arguments()
    env = dict(e.split("=", 1) for e in args.env)
    work = [(script, table, v) for script, table in jobs(SETS[args.set], args.names)
            for v in ("leaky", "fixed", "healthy") if v in table]
    if not work:
        sys.exit("score.py: no such job")
    results = []
    if args.plain:
        in_parallel(args.jobs, [(try_plainly, *w, env) for w in work], results.append)
        sys.exit(0 if all(results) else 1)
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)

    def take(result):
        results.append(result)
        print_result(result, args.verbose)

    find_report = snapshot_report_of if args.snapshots else report_of
    in_parallel(args.jobs, [(examine, find_report, *w, args.keep, env) for w in work], take)
    print_scores(results)


if __name__ == "__main__":
    main()
