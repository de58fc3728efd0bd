#!/usr/bin/python3
"""What the library touches in an event: instructions, and lines and pages that the job's own code and data pushed out.

    tests/bench/lines_touched.py [--explain] [--json]

A training's step is replayed (tests/subjects/training_step.c) under callgrind, in simulated caches that the program's
own code and data flush after each event. The first level is two of 32 KiB, so its misses are the lines of 64 bytes that
an event touches; the second is 32 lines of 4 KiB, so its misses are pages. A line counts once an event, as read or as
written by what touches it first, and only if the program has not just touched it, as it has the innermost part of its
stack. Counted are instructions of libseep.so in the hooks of malloc() and free(), over one step all of whose stacks have
occurred before. What the library does by the clock is left out. What it does for stacks that its table of them has
forgotten is counted by itself, for each. The figures depend on the compiler, not on the machine.

The same by two threads at once; and for allocations below six frames of Python (tests/bench/python_step.py), the
innermost of which has moved on since the event before or is another.

--explain lists where, by source line: the events' first touches of lines and pages, and instructions. SEEP and
SEEP_SUBJECTS as for the tests.
"""

import argparse
import collections
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEP = os.path.abspath(os.environ.get("SEEP", str(ROOT / "build/seep")))
SHIM = os.path.join(os.path.dirname(SEEP), "libseep.so")
SUBJECTS = pathlib.Path(os.environ.get("SEEP_SUBJECTS", str(ROOT / "build/subjects"))).resolve()
NATIVE = str(SUBJECTS / "training_step")
PYTHON = "/usr/bin/python3"
# By the innermost of these functions around an instruction
KINDS = {"malloc": "allocation", "free": "free", "capture_timed": "forgotten stack"}
TIMED = {"seep_tick", "seep_tick_without_look"}  # what is done by the clock lies below these
# Callers are kept apart as far as the hooks.
CALLGRIND = ["valgrind", "-q", "--tool=callgrind", "--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64",
             "--LL=131072,32,4096", "--separate-callers=10"]
COUNTED = {"instructions": ["Ir"], "code lines": ["I1mr"], "data lines read": ["D1mr"], "data lines written": ["D1mw"],
           "code pages": ["ILmr"], "data pages": ["DLmr", "DLmw"]}
NAMED = re.compile(r"(c?)(ob|fi|fe|fl|fn)=\((\d+)\)(?: (.*))?$")


def native_step(_):
    """(argv, options of callgrind). A step ends with this call, so each part of the record is a step."""
    return [NATIVE, "1", "1", "2"], ["--dump-before=seep_steps_user_step"]


def two_threads(_):
    """The same by two threads at once: in turns, or valgrind lets one run to its end before the other."""
    return [NATIVE, "1", "2", "3"], ["--dump-before=seep_steps_user_step", "--fair-sched=yes"]


def python_step(folder):
    """The same below Python. Counted are the calls of malloc() and free() by event(), in the steps after begin()."""
    library = os.path.join(folder, "cold_event.so")
    subprocess.run(["cc", "-O2", "-g", "-fPIC", "-shared", "-I", str(ROOT), "-o", library,
                    str(ROOT / "tests/bench/lib/cold_event.c")], check=True)
    return [PYTHON, "-I", "-S", str(ROOT / "tests/bench/python_step.py"), library, "2"], [
        "--collect-atstart=no", "--toggle-collect=event", "--zero-before=begin"]


def record(step, folder):
    """Callgrind's last record of the job."""
    job, options = step(folder)
    profile, out = os.path.join(folder, "profile"), os.path.join(folder, "step")
    os.mkdir(profile)
    env = {"PATH": os.defpath, "SEEP_OUT": profile, "SEEP_OVERHEAD": "off", "LD_PRELOAD": SHIM}  # here all is slow
    # The program's stack begins below these, twice with its name: always at the same address.
    env["PAD"] = "x" * (10000 - len("".join(job + job[:1] + list(env.values()))))
    subprocess.run(CALLGRIND + options + ["--callgrind-out-file=" + out] + job, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, cwd="/", env=env)
    return max(glob.glob(out + ".*"), key=lambda path: int(path.rsplit(".", 1)[1]), default=out)


def records(path):
    """The rows of a record: (place, what the line costs itself, None) or (place, calls, place that is called). A place
    is a dict: ob, fl, fn with its callers behind it, line."""
    names, here, there, line, events, calls = collections.defaultdict(dict), {}, {}, 0, [], 0
    with open(path) as f:
        for text in f:
            named = NAMED.match(text)
            if named:
                called, key, number, name = named.groups()
                key = "fl" if key in ("fi", "fe") else key
                if name is not None:
                    names[key][number] = name
                (there if called else here)[key] = names[key][number]
            elif text.startswith("events:"):
                events = text.split()[1:]
            elif text.startswith("calls="):
                calls = int(text[6:].split()[0])
            elif text[0] in "+-*" or text[0].isdigit():
                place, *numbers = text.split()
                line = line if place == "*" else line + int(place) if place[0] in "+-" else int(place)
                if calls:
                    yield dict(here, line=line), calls, dict(here, **there)
                else:
                    yield dict(here, line=line), dict(zip(events, map(int, numbers))), None
                calls, there = 0, {}


def of_library(place):
    return place["ob"].endswith("/libseep.so")


def measure(step=native_step):
    """{kind of event: (how many, {(function, file, line): {what is counted: n an event}})}."""
    n = collections.Counter()
    places = {kind: collections.defaultdict(collections.Counter) for kind in KINDS.values()}
    with tempfile.TemporaryDirectory(prefix="seep-bench-") as folder:
        for place, amount, called in records(record(step, folder)):
            callers = place["fn"].split("'")
            if called and of_library(called):
                function = called["fn"].split("'")[0]
                if function in KINDS and function != callers[0]:
                    n[KINDS[function]] += amount
            elif not called and of_library(place) and not TIMED.intersection(callers):
                kind = next((KINDS[name] for name in callers if name in KINDS), None)
                if kind:
                    source = callers[0], os.path.basename(place["fl"]), place["line"]
                    for what, events in COUNTED.items():
                        places[kind][source][what] += sum(amount.get(event, 0) for event in events)
    return {kind: (n[kind], {source: {what: c / n[kind] for what, c in counts.items()}
                             for source, counts in places[kind].items()}) for kind in places}


def sums_of(measured):
    """{what is counted: n an event}, "data lines" and "n" among it."""
    n, places = measured
    sums = {what: sum(counts[what] for counts in places.values()) for what in COUNTED}
    return dict(sums, n=n, **{"data lines": sums["data lines read"] + sums["data lines written"]})


def explain(kind, places):
    """By source line, those first that touch most."""
    def touched(counts):
        return sum(counts[what] for what in COUNTED if what != "instructions")

    form = "%-50s" + " %12s" * len(COUNTED)
    print("\n" + form % ((kind + ", first touched at",) + tuple(COUNTED)))
    for source, counts in sorted(places.items(), key=lambda item: -touched(item[1])):
        if touched(counts) >= 0.005:
            print(form % (("%s %s:%d" % source,) + tuple("%.2f" % counts[what] if counts[what] else ""
                                                         for what in COUNTED)))


def tell(title, measured, where):
    sums = {kind: sums_of(of) for kind, of in measured.items() if of[0]}
    form = "%-20s" + " %16s" * len(sums)
    print(form % ((title,) + tuple(sums)))
    print(form % (("so many counted",) + tuple(of["n"] for of in sums.values())))
    for what in COUNTED:
        print(form % ((what,) + tuple("%.2f" % of[what] for of in sums.values())))
    for kind in sums if where else ():
        explain(kind, measured[kind][1])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--explain", action="store_true", help="list where")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(arguments)
    steps = {"native": measure(), "two threads": measure(two_threads), "below Python": measure(python_step)}
    if args.json:
        print(json.dumps({title: {kind: {what: round(x, 2) for what, x in sums_of(of).items()}
                                  for kind, of in measured.items() if of[0]} for title, measured in steps.items()},
                         indent=1))
        return 0
    for title, measured in steps.items():
        tell(title, measured, args.explain)
    return 0


if __name__ == "__main__":
    sys.exit(main())
