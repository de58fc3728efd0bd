"""Runs the zoo's jobs under seep and holds the verdicts against the tables beside them.

usage: zoo.py [--jobs N] [--keep DIR] [NAME...]      prints recall, lines, patterns, holders, accusations, confidence

A table (NAME.toml) says what is true of NAME.py: `patterns` (any of them is right), `memory_limit` where the job needs a
machine scaled down as it is itself, and for each variant its arguments and what must come out: [leaky] one finding on
a line marked "# LEAK", `growth` bytes a step (in each of `processes`), `retained` bytes or `saving` bytes by the
script's own arithmetic, and who holds it (holders.py); `snapshots`, without which the verdict cannot be had: if a busy
machine has read fewer, the job runs again; [fixed] and [healthy] nobody accused, and nothing lost."""
import argparse
import concurrent.futures
import json
import mmap
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

ZOO = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ZOO.parents[1]))  # for what the tests share, also when this runs as a script

from tests.e2e.support import SLOWER, kill_session  # noqa: E402
from tests.zoo import holders  # noqa: E402

SEEP = os.path.abspath(os.environ.get("SEEP", str(ZOO.parents[1] / "build/seep")))
PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
ACCUSING = ("leak", "retention")
TOLERANCE = 0.1
LIMIT_S = 240 * SLOWER
JUDGED = 10  # verdicts of a word
TRIES = 6  # to get the snapshots that a verdict needs
running = set()  # sessions


def tables(names=()):
    """(name, table) of each job of the zoo, or of those named."""
    found = {p.stem: tomllib.loads(p.read_text()) for p in sorted(ZOO.glob("*.toml"))}
    return [(n, t) for n, t in found.items() if not names or n in names]


def variants(found):
    return [(name, table, v) for name, table in found for v in ("leaky", "fixed", "healthy") if v in table]


def marked_lines(name):
    return [i for i, line in enumerate((ZOO / (name + ".py")).read_text().splitlines(), 1) if "# LEAK" in line]


def watched(argv, env):
    """The status (None: it hung) and the errors of a command, which ends with all of its session. Output goes through
    files, so that what outlives seep cannot hold this up."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        running.add(p.pid)
        try:
            status = p.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            kill_session(p.pid)
            p.wait()
            running.discard(p.pid)
        err.seek(0)
        return status, err.read().decode("utf-8", "replace")


def environment():
    """On a busy machine seep costs more, and would sample."""
    return {k: v for k, v in os.environ.items() if not k.startswith("SEEP_")} | {"SEEP_OVERHEAD": "off"}


def run(name, table, variant, folder):
    """The report of one variant, and the seconds it took."""
    began = time.monotonic()
    scaled = ["--memory-limit", table["memory_limit"]] if "memory_limit" in table else []
    argv = [SEEP, "run", "-q", "-o", str(folder), *scaled, "--", PYTHON, str(ZOO / (name + ".py")), *table[variant].get("args", [])]
    status, err = watched(argv, environment())
    if status != 0:
        raise RuntimeError("%s %s: status %s\n%s" % (name, variant, "hung" if status is None else status, err[-2000:]))
    with open(folder / "report.json") as f:
        return json.load(f), time.monotonic() - began


def brief(finding):
    frame = finding["frame"] or {}
    return "%s %s %s:%s live %s growth %.0f" % (
        finding["severity"], finding["pattern"], os.path.basename(frame.get("file") or "?"), frame.get("line"),
        finding["live_bytes"], finding["growth_bytes_per_step"]["value"])


def hit_of(name, table, report):
    """The finding that is meant: on a marked line, else of the right pattern, else any on the script's own lines."""
    own = [f for f in report["findings"] if os.path.basename((f["frame"] or {}).get("file") or "") == name + ".py"]
    lines, patterns = marked_lines(name), table["patterns"]
    for right in (lambda f: (f["frame"] or {}).get("line") in lines and f["pattern"] in patterns,
                  lambda f: (f["frame"] or {}).get("line") in lines and f["severity"] != "info",
                  lambda f: f["pattern"] in patterns,
                  lambda f: f["severity"] != "info"):
        for finding in own:
            if right(finding):
                return finding
    return None


def in_pages(growth):
    """A list is of files in memory: each ends with a page of the machine's."""
    return growth if isinstance(growth, int) else sum(-(-n // mmap.PAGESIZE) * mmap.PAGESIZE for n in growth)


def measured(finding, truth):
    """How far the bytes are from the script's arithmetic, as a share; None where the table says nothing."""
    if "growth" in truth:
        return finding["growth_bytes_per_step"]["value"] / in_pages(truth["growth"]) / truth.get("processes", 1) - 1
    if "saving" in truth:
        return finding["saving_bytes"] / truth["saving"] - 1
    if "retained" in truth:  # a sawtooth may end anywhere: its height is what its fall saves
        return min((finding[k] / truth["retained"] - 1 for k in ("live_bytes", "saving_bytes")), key=abs)
    return None


def verdicts(name, table, variant, report):
    """(word, number, right) of each accusation and of the finding that is meant: right on a marked line of a leaky job,
    with a pattern of its table."""
    meant = hit_of(name, table, report) if variant == "leaky" else None
    own, lines = name + ".py", marked_lines(name)
    return [(f["confidence_word"], f["confidence"], f is meant and (f["frame"] or {}).get("line") in lines
             and os.path.basename(f["frame"].get("file") or "") == own and f["pattern"] in table["patterns"])
            for f in report["findings"] if f["severity"] in ACCUSING or f is meant]


def judge(name, table, variant, report, folder):
    """A dict of what came out of one variant."""
    accusations = [brief(f) for f in report["findings"] if f["severity"] in ACCUSING]
    result = {"job": name, "variant": variant, "findings": [brief(f) for f in report["findings"]],
              "verdicts": verdicts(name, table, variant, report)}
    if variant != "leaky":
        false = holders.accused(report, folder)
        return {**result, "accused": len(accusations), "held": false, "ok": not accusations and not false}
    hit = hit_of(name, table, report)
    if not hit:
        return {**result, "found": False, "holder": False, "ok": False}
    off = measured(hit, table["leaky"])
    line = (hit["frame"] or {}).get("line") in marked_lines(name)
    pattern = hit["pattern"] in table["patterns"]
    close = off is None or abs(off) <= TOLERANCE
    truth = table["leaky"]["holder"]
    holder = holders.right(hit.get("holders"), truth) and holders.kept(hit, truth)
    return {**result, "found": True, "line": line, "pattern": pattern, "off": off, "close": close, "holder": holder,
            "row": holders.row(name, ZOO / (name + ".py"), hit, truth, holder),
            "hit": brief(hit), "held": holders.brief(hit.get("holders")), "ok": line and pattern and close and holder}


def examine(name, table, variant, keep=None):
    with tempfile.TemporaryDirectory(prefix="seep-zoo-") as scratch:
        folder = pathlib.Path(keep or scratch) / ("%s-%s" % (name, variant))
        for _ in range(TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            report, seconds = run(name, table, variant, folder)
            if (report["holders"] or {"snapshots": 0})["snapshots"] >= table[variant].get("snapshots", 0):
                break
    return {**judge(name, table, variant, report, folder), "seconds": seconds}


def summary(results):
    leaky = [r for r in results if r["variant"] == "leaky"]
    found = [r for r in leaky if r["found"]]
    quiet = [r for r in results if r["variant"] != "leaky"]
    told = [r for r in found if r["off"] is not None]
    return {"leaky": len(leaky), "found": len(found), "lines": sum(r["line"] for r in found),
            "patterns": sum(r["pattern"] for r in found), "holders": sum(r["holder"] for r in leaky), "told": len(told), "close": sum(r["close"] for r in told),
            "quiet": len(quiet), "accused": sum(r["accused"] > 0 for r in quiet)}


def confidences(results):
    """(word, number, right, all) of each word that verdicts have, the surest first."""
    words = {}
    for word, number, right in (v for r in results for v in r["verdicts"]):
        _, ones = words.setdefault(word, (number, []))
        ones.append(right)
    return sorted(((word, number, sum(ones), len(ones)) for word, (number, ones) in words.items()), key=lambda w: -w[1])


def overrated(results):
    """Words whose number is above the share of their verdicts that are right; a share of few verdicts says nothing."""
    return [word for word, number, right, n in confidences(results) if n >= JUDGED and right < number * n]


def share(part, whole):
    return "%d of %d (%.2f)" % (part, whole, part / whole if whole else 1)


def print_result(r):
    if r["variant"] != "leaky":
        print("%-4s %-24s %-8s %4.1f s  %s" % ("ok" if r["ok"] else "BAD", r["job"], r["variant"], r["seconds"],
                                               "; ".join(r["findings"][:3] + r["held"]) or "nothing"), flush=True)
        return
    wrong = [] if r["found"] else ["not found; " + ("; ".join(r["findings"][:4]) or "nothing")]
    if r["found"]:
        wrong = [w for w, bad in (("LINE", not r["line"]), ("PATTERN", not r["pattern"]),
                                  ("BYTES", not r["close"]), ("HOLDER", not r["holder"])) if bad]
    off = "" if r.get("off") is None else " (%+.1f %%)" % (100 * r["off"])
    print("%-4s %-24s %-8s %4.1f s  %s%s %s" % ("ok" if r["ok"] else "BAD", r["job"], r["variant"], r["seconds"],
                                                r.get("hit", ""), off, " ".join(wrong)), flush=True)
    print("     %s" % r.get("held", ""), flush=True)


def write_table(path, results):
    rows = sorted(r["row"] for r in results if r.get("row"))
    head = ["| line | who holds it | goes with it | | the line that proves it |", "| --- | --- | --- | --- | --- |"]
    pathlib.Path(path).write_text("\n".join(head + rows) + "\n")


def main():
    parser = argparse.ArgumentParser(description="run the zoo's jobs under seep")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="folder for the profiles")
    parser.add_argument("--table", metavar="FILE", help="write who holds it, job by job, as Markdown")
    args = parser.parse_args()
    work = variants(tables(args.names))
    if not work:
        sys.exit("zoo.py: no such job")
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        try:
            for done in concurrent.futures.as_completed([pool.submit(examine, *w, args.keep) for w in work]):
                results.append(done.result())
                print_result(results[-1])
        except BaseException:  # Ctrl-C, too, which sessions of their own do not hear
            pool.shutdown(wait=False, cancel_futures=True)
            for session in list(running):
                kill_session(session)
            raise
    if args.table:
        write_table(args.table, results)
    s = summary(results)
    print("\nrecall             %s" % share(s["found"], s["leaky"]))
    print("exact line         %s" % share(s["lines"], s["found"]))
    print("right pattern      %s" % share(s["patterns"], s["found"]))
    print("holder named       %s" % share(s["holders"], s["leaky"]))
    print("bytes within 10 %%  %s" % share(s["close"], s["told"]))
    print("false accusations  %d on %d fixed and healthy jobs" % (s["accused"], s["quiet"]))
    for word, number, right, n in confidences(results):
        print("%-18s %s right, confidence %.2f" % (word, share(right, n), number))
    if overrated(results):
        sys.exit("zoo.py: confidence.def promises too much: %s" % " ".join(overrated(results)))


if __name__ == "__main__":
    main()
