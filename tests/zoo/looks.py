"""Looks at the zoo's leaking jobs while they run on, not started under seep, and holds what `seep look` says against the
tables: does it name who holds the memory.

usage: looks.py [--every S] [--times N] [NAME...]      prints a line a job: by what grows, by what holds most, what it cost

A table (NAME.toml) has the arguments of a run that lasts in [leaky.look], and whether the memory is a child's."""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from tests.zoo import holders  # noqa: F401  (what is named is told there)
from tests.zoo.zoo import PYTHON, SEEP, ZOO, environment, tables

WARM_S = 8


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(word) for word in f.read().split()]
    except OSError:
        return []


def look(pid, every, times):
    """(document or None, errors)"""
    argv = [SEEP, "look", "--format", "json", "--every", str(every), "--times", str(times), str(pid)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600)
    return (json.loads(done.stdout) if done.stdout else None), done.stderr.strip()


def names(holder, wanted):
    """Whether the way to a holder names what the table does: "Class.attribute", "local 'x' of f()"."""
    text = re.sub(r" \([^()]*\)", "", holder["path"]["text"])
    for one in wanted:
        last = one.rsplit(".", 1)[-1]
        if one in text or (one.count(".") == 1 and re.search(r"\.%s\b" % re.escape(last), text) and
                           one.split(".")[0] in holder["path"]["text"]):
            return True
    return False


def place(list_of_holders, wanted):
    for i, holder in enumerate(list_of_holders, 1):
        if names(holder, wanted):
            return i
    return 0


def judge(document, wanted):
    growing = [h for h in document["holders"] if h["growth"] != "no" and not h["by_another"]]
    growing.sort(key=lambda h: -h["growth_bytes_per_minute"])
    most = [h for h in document["holders"] if h["within"] is None]
    return place(growing, wanted), place(most, wanted), growing, most


def run(name, table, every, times):
    what = table["leaky"]["look"]
    with tempfile.TemporaryDirectory() as folder:
        job = subprocess.Popen([PYTHON, str(ZOO / (name + ".py")), *what["args"]], cwd=folder, env=environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            time.sleep(WARM_S)
            pid = (children(job.pid)[-1:] or [job.pid])[0] if what.get("in_child") else job.pid
            return look(pid, every, times)
        finally:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


def tell(name, table, document, errors):
    wanted = table["leaky"].get("holder", {}).get("named", [])
    by_growth, by_size, growing, most = judge(document, wanted)
    last = document["looks"][-1]
    print("%-22s %-5s by growth %d, by size %d; stops %s ms; growing: %s; most: %s %s"
          % (name, "right" if 0 < by_growth <= 2 or (not by_growth and 0 < by_size <= 2) else "-", by_growth, by_size,
             "/".join("%d" % (m["stop_ns"] / 1e6) for m in document["looks"]),
             [(h["path"]["text"][:60], round(h["growth_bytes_per_minute"] / 1e6, 1), h["growth"]) for h in growing[:2]],
             [(h["path"]["text"][:60], h["retained_bytes"] >> 10) for h in most[:2]], last["way"] + " " + errors), flush=True)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--every", type=float, default=4)
    options.add_argument("--times", type=int, default=3)
    options.add_argument("names", nargs="*")
    o = options.parse_args()
    for name, table in tables(o.names):
        if "look" not in table.get("leaky", {}):
            continue
        document, errors = run(name, table, o.every, o.times)
        if document:
            tell(name, table, document, errors)
        else:
            print("%-22s no answer: %s" % (name, errors), flush=True)


if __name__ == "__main__":
    sys.exit(main())
