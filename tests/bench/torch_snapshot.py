"""What a memory snapshot of PyTorch's costs to read: `seep report` beside pickle.load() of the same file, in turns.

usage: torch_snapshot.py [EVENTS]      2,000,000 by default; needs 3 GB to make the file"""
import os
import pathlib
import pickle
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for what the tests share

from tests import torch_snapshots as made  # noqa: E402

SEEP = os.path.abspath(os.environ.get("SEEP", str(ROOT / "build/seep")))
ROUNDS = 3
LOAD = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb'))"


def written(events, path):
    """Like PyTorch's own pickler each list of frames is there once."""
    a = made.Allocator("2.15")
    while len(a.events) < events:
        made.train(a, 1000)
    with open(path, "wb") as f:
        pickle.dump(made.snapshot(a), f, protocol=2)
    return len(a.events)


def measured(argv):
    """(seconds, MiB at most) of a command."""
    began = time.monotonic()
    p = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(p.pid, 0)
    if os.waitstatus_to_exitcode(status):
        sys.exit("%s failed" % argv[0])
    return time.monotonic() - began, usage.ru_maxrss / 1024


def main():
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rank0.pickle")
        maker = os.fork()  # so that this process stays small: it is what the others are started from
        if not maker:
            os._exit(print("%d events" % written(events, path), flush=True) or 0)
        os.waitpid(maker, 0)
        print("%.0f MiB" % (os.path.getsize(path) / 2**20))
        commands = {"pickle.load()": [sys.executable, "-c", LOAD, path], "seep report": [SEEP, "report", "--format", "json", path]}
        seen = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, argv in commands.items():
                seen[name].append(measured(argv))
        for name, rounds in seen.items():
            print("%-14s %6.2f s %7.0f MiB" % (name, statistics.median(r[0] for r in rounds), max(r[1] for r in rounds)))


if __name__ == "__main__":
    main()
