"""Looks at the zoo's leaking jobs while they run on, not started under seep, and holds what `seep look` says against the
tables: does it name who holds the memory.

usage: looks.py [--every S] [--times N] [--fixed] [NAME...]

Prints a line a job: by what grows, by what holds most, what it cost; with --fixed, of each job without its leak, what is
said to grow without bound. The last line counts those that are right, and is the exit status.

A table (NAME.toml) has the arguments of a run that lasts in [leaky.look]; its child processes are looked at as well."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from tests.e2e.support import kill_session, session_members
from tests.zoo import holders  # noqa: F401  (what is named is told there)
from tests.zoo.zoo import PYTHON, SEEP, ZOO, environment, tables

WARM_S = 8
PATIENCE = 10  # times as long on a busy machine
ORDER = ["endless", "steady", "grew"]  # as the text lists them


def look(pid, every, times):
    """(document or None, errors)"""
    argv = [SEEP, "look", "--tree", "--format", "json", "--every", str(every), "--times", str(times), str(pid)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600)
    return (json.loads(done.stdout) if done.stdout else None), done.stderr.strip()


def cpu_s(leader):
    """CPU time of the session's processes."""
    sum_of_ticks = 0
    for pid in session_members(leader):
        try:
            with open("/proc/%d/stat" % pid) as f:
                sum_of_ticks += sum(map(int, f.read().rsplit(") ", 1)[1].split()[11:13]))
        except OSError:
            pass
    return sum_of_ticks / os.sysconf("SC_CLK_TCK")


def warm_up(job, seconds):
    """By the clock and by CPU time: on a busy machine it would still be loading its libraries."""
    began = time.monotonic()
    time.sleep(seconds)
    while job.poll() is None and cpu_s(job.pid) < seconds and time.monotonic() - began < PATIENCE * seconds:
        time.sleep(0.1)


def names(holder, wanted, states):
    """Whether the way to a holder names what the table does: "Class.attribute", "local 'x' of f()"; of what nobody holds
    the state says it, with the type if the table has one."""
    if holder["state"] != "held":
        return holder["state"] in states and (not wanted or any(one in holder["path"]["text"] for one in wanted))
    text = re.sub(r" \([^()]*\)", "", holder["path"]["text"])
    for one in wanted:
        last = one.rsplit(".", 1)[-1]
        if one in text or (one.count(".") == 1 and re.search(r"\.%s\b" % re.escape(last), text) and
                           one.split(".")[0] in holder["path"]["text"]):
            return True
    return False


def place(list_of_holders, wanted, states):
    for i, holder in enumerate(list_of_holders, 1):
        if names(holder, wanted, states):
            return i
    return 0


def judge(document, wanted, states):
    growing = [h for h in document["tree"]["holders"] if h["growth"] != "no" and not h["by_another"]]
    growing.sort(key=lambda h: (ORDER.index(h["growth"]), -h["growth_bytes_per_minute"]))
    most = [h for h in document["tree"]["holders"] if h["within"] is None]
    return place(growing, wanted, states), place(most, wanted, states), growing, most


def arguments(table, fixed):
    """The variant comes first."""
    args = table["leaky"]["look"]["args"]
    return [table["fixed"]["args"][0], *args[1:]] if fixed else args


def run(name, table, fixed, every, times, warm=WARM_S):
    args = arguments(table, fixed)
    with tempfile.TemporaryDirectory() as folder:
        job = subprocess.Popen([PYTHON, str(ZOO / (name + ".py")), *args], cwd=folder, env=environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            warm_up(job, warm)
            return look(job.pid, every, times)
        finally:
            kill_session(job.pid)
            job.wait()


def is_found(by_growth, by_size):
    """First or second by growth, or by size where it does not grow."""
    return 0 < by_growth <= 2 or (not by_growth and 0 < by_size <= 2)


def endless(document):
    return [h for h in document["tree"]["holders"] if h["growth"] == "endless" and not h["by_another"]]


def tell(name, table, document, errors):
    """Whether the holder that the table names is found."""
    holder = table["leaky"].get("holder", {})
    by_growth, by_size, growing, most = judge(document, holder.get("named", []), holder.get("state", ["held"]))
    last = document["looks"][-1]
    right = is_found(by_growth, by_size)
    print("%-22s %-5s by growth %d, by size %d; stops %s ms; growing: %s; most: %s %s"
          % (name, "right" if right else "-", by_growth, by_size,
             "/".join("%d" % (m["stop_ns"] / 1e6) for m in document["looks"]),
             [(h["path"]["text"][:60], round(h["growth_bytes_per_minute"] / 1e6, 1), h["growth"]) for h in growing[:2]],
             [(h["path"]["text"][:60], h["retained_bytes"] >> 10) for h in most[:2]], last["way"] + " " + errors), flush=True)
    return right


def tell_fixed(name, table, document, errors):
    """Whether nothing is said to grow without bound."""
    growing = endless(document)
    print("%-22s %-5s %s %s" % (name, "-" if growing else "right",
                                [(h["path"]["text"][:90], round(h["growth_bytes_per_minute"] / 1e6, 1), h["length_by_look"],
                                  [(r or 0) >> 10 for r in h["retained_by_look"]]) for h in growing[:3]], errors), flush=True)
    return not growing


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--every", type=float, default=4)
    options.add_argument("--times", type=int, default=3)
    options.add_argument("--fixed", action="store_true")
    options.add_argument("names", nargs="*")
    o = options.parse_args()
    n = right = 0
    for name, table in tables(o.names):
        if "look" not in table.get("leaky", {}):
            continue
        document, errors = run(name, table, o.fixed, o.every, o.times)
        n += 1
        if document:
            right += (tell_fixed if o.fixed else tell)(name, table, document, errors)
        else:
            print("%-22s no answer: %s" % (name, errors), flush=True)
    print("%d of %d right" % (right, n))
    return right < n


if __name__ == "__main__":
    sys.exit(main())
