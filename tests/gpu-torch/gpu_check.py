"""Checks seep on a machine with a GPU and PyTorch, where nothing can be installed: what it saw against PyTorch's totals
at the end of every step (of every N-th) and the history that it writes itself, what CUPTI adds, and what it costs.

usage: gpu_check.py [-o FILE.json] [--each N] [CASE…]

$PYTHON is the interpreter with PyTorch (python3). A table goes to the terminal, all figures to FILE
(build/gpu-check.json).
Exit status: 0 all is as it should be, 1 something differed, 2 there is no GPU or no PyTorch."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from gpu_torch import CACHING, EXPANDABLE, HERE, LACKING, ROOT, SEEP, SMALL, judge, report_of, run_job

PYTHON = os.environ.get("PYTHON", "python3")
PAIRS = 3

# name: (what the job does, its settings, what each tier must be equal to, what else is expected)
CASES = {
    "native": ("plain", {}, CACHING, {}),
    "expandable": ("kept_losses", EXPANDABLE, CACHING, {}),
    "async": ("plain", {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}, {"device": "allocated"},
              {"silent": True}),
    "pinned": ("pinned", {}, CACHING, {}),
    "threads": ("many_threads", {}, CACHING, {}),
    "history": ("history", {}, CACHING, {}),
    "history-threads": ("history_threads", {}, CACHING, {}),
    "shortage": ("shortage", SMALL, CACHING, {"failed": 2}),  # a GPU is not the smaller for that: there the job limits itself
    "graphs": ("graphs", {}, CACHING, {}),
    "ipc": ("ipc", {}, CACHING, {}),
    "forked": ("forked", {}, CACHING, {}),
}

MACHINE = """import json, torch
ok = torch.cuda.is_available()
print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "devices": [
    {"name": p.name, "bytes": p.total_memory} for p in map(torch.cuda.get_device_properties,
     range(torch.cuda.device_count() if ok else 0))]}))"""


def machine():
    """What PyTorch and the driver say of it; None where there is nothing to check."""
    done = subprocess.run([PYTHON, "-c", MACHINE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 and done.stdout else {"devices": []}
    if not said["devices"]:
        print("gpu-check: no GPU that PyTorch of %s can use: name one with PYTHON=… %s" % (PYTHON, done.stderr[-300:]))
        return None
    try:
        said["driver"] = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                                        stdout=subprocess.PIPE, text=True).stdout.split("\n")[0]
    except OSError:
        said["driver"] = ""
    print("PyTorch %(torch)s, CUDA %(cuda)s, driver %(driver)s" % said)
    for number, device in enumerate(said["devices"]):
        print("device %d: %s, %.1f GiB" % (number, device["name"], device["bytes"] / (1 << 30)))
    return said


def environment(settings=()):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SEEP_", "PYTORCH_"))}
    env.update(settings, PYTHONPATH=str(ROOT / "build/python"))
    kit = ROOT / "build/lib"  # libraries that the machine lacks (make gpu-kit)
    if kit.is_dir():
        env["LD_LIBRARY_PATH"] = ":".join([*filter(None, [env.get("LD_LIBRARY_PATH")]), str(kit)])
    return env


def examine(name, folder, each, options=()):
    """One case, as a row of the result."""
    job, settings, tiers, expected = CASES[name]
    wrong, steps, compared, status = run_job(PYTHON, job, tiers, environment(settings), folder, each, options)
    if status == LACKING:
        return {"verdict": "skipped", "why": "this PyTorch has no such thing"}
    if status != 0:
        return {"verdict": "failed", "why": (folder / "stderr").read_text().strip()[-1500:]}
    report = report_of(folder / "profile.d")
    wrong += judge(report, expected) + [said for said in report["coverage"]["not_seen"] if "--gpu=cupti:" in said]
    return {"verdict": "WRONG" if wrong else "ok", "why": "; ".join(wrong), "steps": steps, "compared": compared,
            "tensors": report["coverage"].get("tensors"), "runtime": report["coverage"].get("runtime"),
            "devices": report.get("devices"), "spaces": report["spaces"], "not_seen": report["coverage"]["not_seen"]}


def seconds(folder, options):
    """Of a job's steps alone, by its own clock."""
    began = time.monotonic()
    argv = [PYTHON, str(HERE / "job.py"), "timed"]
    profile = str(folder / ("timed-%f.d" % began))
    under = [SEEP, "run", "-q", *options, "-o", profile, "--"] if options is not None else []
    done = subprocess.run([*under, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-1500:])
    return json.loads(done.stdout.splitlines()[-1])["seconds"]


def cost(folder):
    """Of a training with small steps, in pairs: times of plain, by mode of --gpu."""
    ratios = {"off": [], "auto": [], "cupti": []}
    for _ in range(PAIRS):
        plain = seconds(folder, None)
        for mode, list_ in ratios.items():
            list_.append(seconds(folder, ["--gpu=" + mode]) / plain)
    return {mode: {"median": statistics.median(list_), "all": list_} for mode, list_ in ratios.items()}


def main():
    parser = argparse.ArgumentParser(description="check seep on a machine with a GPU")
    parser.add_argument("-o", metavar="FILE", default=str(ROOT / "build/gpu-check.json"))
    parser.add_argument("--each", metavar="N", type=int, default=1)
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    result = {"machine": machine(), "cases": {}}
    if not result["machine"]:
        return 2
    with tempfile.TemporaryDirectory(prefix="seep-gpu-check-") as scratch:
        for name in args.cases or [*CASES, "cupti"]:
            folder = pathlib.Path(scratch) / name
            folder.mkdir()
            with_cupti = name == "cupti"
            row = examine("native" if with_cupti else name, folder, args.each, ["--gpu=cupti"] if with_cupti else ())
            result["cases"][name] = row
            print("%-12s %-8s %s" % (name, row["verdict"], row["why"]), flush=True)
        if not args.cases:
            result["cost"] = cost(pathlib.Path(scratch))
            for mode, its in result["cost"].items():
                print("cost, --gpu=%-6s %.3f of the time without seep" % (mode, its["median"]), flush=True)
    pathlib.Path(args.o).write_text(json.dumps(result, indent=1))
    print("all figures: %s" % args.o)
    return int(any(row["verdict"] in ("WRONG", "failed") for row in result["cases"].values()))


if __name__ == "__main__":
    sys.exit(main())
