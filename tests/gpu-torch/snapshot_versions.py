"""Reads what each version of PyTorch writes into a memory snapshot off its own wheel, on the stand-in for two GPUs: the
keys against the table (tests/torch_versions.py), and what seep makes of it against PyTorch's own books at that moment, to
the byte, and against what the job does.

usage: snapshot_versions.py [--keep DIR] [VERSION…]

One wheel at a time is installed, from PyPI or from the folder that WHEELS names, and removed afterwards (0.5 to 0.9 GB to
fetch each, up to 4 GB while it is there). --keep has the snapshots afterwards. The last line counts; status 1 where
anything differs."""
import argparse
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile

from gpu_torch import EXPANDABLE, HERE, INSTALLED, MIB, ROOT, SMALL, STANDIN, install_wheel, report_of

sys.path.insert(0, str(ROOT / "tests"))

import torch_versions as versions  # noqa: E402

JOB = HERE / "snapshot_job.py"
LEAK = next(n for n, text in enumerate(JOB.read_text().splitlines(), 1) if text.endswith("# the leak"))
JOB_SECONDS = 900
MANY, FEW = 100000, 600  # entries of a history: all that happens, and the last steps of it

# name: (settings, entries, since)
WAYS = {"plain": ({}, MANY, "1.13"), "expandable": (EXPANDABLE, MANY, "2.1"), "ring": ({}, FEW, "2.0")}


def rounded(size):
    return (size + 511) // 512 * 512


ASKED = rounded(50 * MIB + 7)  # where there is no room, PyTorch tells the size as it has rounded it


def run(folder, version, way, name):
    """Why the job failed, or None."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SEEP_", "PYTORCH_", "STANDIN_"))}
    settings, entries, _ = WAYS[way]
    env.update(settings, **SMALL, OMP_NUM_THREADS="1",
               LD_LIBRARY_PATH="%s:%s" % (STANDIN / str(versions.READ[version]), folder / "lib"))
    done = subprocess.run([str(folder / "venv/bin/python"), str(JOB), str(name), str(entries)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env=env, timeout=JOB_SECONDS)
    return done.stdout.strip()[-1500:] or "status %d" % done.returncode if done.returncode else None


def asked_in(snapshot, device):
    """(bytes that the program asked for and has, the same in the allocator's whole units): in 1.13 the history says it."""
    sizes = [block["history"][0]["real_size"] for segment in snapshot if segment["device"] == device
             for block in segment["blocks"] if block["state"] != "inactive"]
    return sum(sizes), sum(map(rounded, sizes))


def pairs(snapshot, report, books):
    """(what, as seep says it, as it is) of all that is the same for each version."""
    live = {name: space["live_bytes"] for name, space in report["spaces"].items()}
    for device, own in enumerate(books["devices"]):
        tensors, segments = "tensor:%d" % device, "device:%d" % device
        if isinstance(snapshot, list):
            asked, active = asked_in(snapshot, device)
            yield "bytes in the history of " + tensors, active, own["active_bytes.all.current"]
        else:
            asked = own["requested_bytes.all.current"]
        yield "bytes in " + tensors, live[tensors], asked
        yield "bytes in " + segments, live[segments], own["reserved_bytes.all.current"]
    yield "pinned bytes", live.get("pinned", 0), books["host"]["allocated_bytes.current"] if "host_segments" in snapshot else 0
    leak = [site["live_bytes"] for site in report["sites"] if site["space"] == "tensor:0" and
            [f for f in site["stack"] if f.get("line") == LEAK and f["file"] == str(JOB)]]
    yield "bytes that the leak holds", sum(leak), books["steps"] * books["kept"]


def pairs_of_history(report, books):
    """The same of what only a history can say that has everything."""
    peak = {name: space["peak_bytes"] for name, space in report["spaces"].items()}
    for device, own in enumerate(books["devices"]):
        yield "peak of tensors", peak["tensor:%d" % device], own["requested_bytes.all.peak"]
        yield "peak of segments", peak["device:%d" % device], own["reserved_bytes.all.peak"]
    yield "steps", (report["job"]["steps"], report["job"]["step_source"]), (books["steps"], "optimizer")
    growing = [f for f in report["findings"] if f["pattern"] == "unbounded-growth"]
    yield "lines that leak", [(f["frame"]["file"], f["frame"]["line"], f["growth_bytes_per_step"]["value"]) for f in growing], \
        [(str(JOB), LEAK, books["kept"])]
    yield "requests without room", [r["asked_bytes"] for r in report["out_of_memory"]], [ASKED]


def examine(folder, version, kept):
    """What differs, as texts."""
    wrong, snapshots = [], []
    for way, (_, entries, since) in WAYS.items():
        if versions.number(version) < versions.number(since):
            continue
        name = kept / ("%s-%s" % (version, way))
        why = run(folder, version, way, name)
        if why:
            return ["%s: %s" % (way, why)]
        report = report_of(str(name) + ".pickle")
        with open(str(name) + ".pickle", "rb") as f:
            snapshots.append(pickle.load(f))
        books = json.loads(pathlib.Path(str(name) + ".json").read_text())
        found = list(pairs(snapshots[-1], report, books))
        found += pairs_of_history(report, books) if isinstance(snapshots[-1], dict) and entries == MANY else []
        wrong += ["%s: %s: %s, not %s" % (way, *pair) for pair in found if pair[1] != pair[2]]
    return wrong + versions.differences(version, snapshots)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("versions", nargs="*")
    args = parser.parse_args()
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for version in args.versions or versions.READ:
        folder = INSTALLED / ("version-" + version)
        why = install_wheel(folder, version, ["--no-cache-dir", "--no-compile"])
        if why:
            print("%-7s skipped: it could not be installed: %s" % (version, why), flush=True)
            count["skipped"] += 1
        else:
            with tempfile.TemporaryDirectory(prefix="seep-snapshots-") as scratch:
                wrong = examine(folder, version, pathlib.Path(args.keep or scratch))
            print("%-7s %s" % (version, "\n        ".join(["WRONG", *wrong]) if wrong else "ok"), flush=True)
            count["failed" if wrong else "passed"] += 1
        shutil.rmtree(folder, ignore_errors=True)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % count)
    return count["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
