"""What memray, PyTorch's history and seep count for the same lines of the same job: allocations, bytes in all, and what
the line had at the peak (memray), or kept over the last steps (seep). The runs are two; jobs do the same each time."""
import collections
import json
import pickle
import subprocess

from tests.peers import pages

MOST_LINES = 8

# Runs under memray's Python: its records are not documented as a file format.
READER = """
import collections, json, sys, memray
reader, job = memray.FileReader(sys.argv[1]), sys.argv[2]
frees = [getattr(memray.AllocatorType, name) for name in ("FREE", "MUNMAP", "PYMALLOC_FREE")]
lines = collections.defaultdict(lambda: [0, 0, 0])
def line_of(record):
    return next((frame[2] for frame in record.stack_trace() if frame[1].endswith(job)), 0)
for record in reader.get_allocation_records():
    if record.allocator not in frees:
        at = lines[line_of(record)]
        at[0] += 1
        at[1] += record.size
for record in reader.get_high_watermark_allocation_records(merge_threads=True):
    lines[line_of(record)][2] += record.size
print(json.dumps(lines))
"""


def by_memray(made, job):
    record = made.memray_records(job)[0]
    python = pages.MEMRAY.parent / "python"
    done = subprocess.run([python, "-c", READER, record, job[0]], stdout=subprocess.PIPE, check=True)
    return {int(line): figures for line, figures in json.loads(done.stdout).items()}


def by_history(made, job):
    """Of the whole run, if the snapshot has it; backward's threads have no frame of Python."""
    with open(made.snapshot(job), "rb") as f:
        snapshot = pickle.load(f)
    lines = collections.defaultdict(lambda: [0, 0])
    for event in snapshot["device_traces"][0]:
        if event["action"] == "alloc":
            line = next((f["line"] for f in event["frames"] if f["filename"].endswith(job[0])), 0)
            lines[line][0] += 1
            lines[line][1] += event["size"]
    return lines


def by_seep(made, job, spaces):
    text = pages.quiet([pages.SEEP, "report", made.profile(job), "--format", "json", "--all"])
    lines = collections.defaultdict(lambda: [0, 0, 0])
    for site in json.loads(text)["sites"]:
        python = (frame for frame in site["stack"] if frame["kind"] == "python")
        at = lines[next((frame["line"] for frame in python if (frame["file"] or "").endswith(job[0])), 0)]
        if site["space"] in spaces:
            for i, name in enumerate(("allocations", "allocated_bytes", "retained_bytes")):
                at[i] += site[name]
    return lines


def table(peer, theirs, ours, last):
    """Lines with most bytes; 0 is what has no frame of the job's own Python."""
    width = 3 if last else 2
    names = ["allocations", "bytes"] + ([last] if last else [])
    print("\n| line | %s |" % " | ".join("%s: %s" % (who, name) for name in names for who in (peer, "seep")))
    print("|%s" % (" --- |" * (1 + 2 * width)))
    for line in sorted(theirs, key=lambda line: -theirs[line][1])[:MOST_LINES]:
        cells = ["{:,}".format(of[line][i]) for i in range(width) for of in (theirs, ours)]
        print("| %s | %s |" % (line or "none", " | ".join(cells)))


def of_host(made, job):
    table("memray", by_memray(made, job), by_seep(made, job, ("host", "mmap", "shm")), "at the peak, or kept")


def of_device(made, job):
    table("PyTorch", by_history(made, job), by_seep(made, job, ("tensor:0",)), None)
