"""Runs PyTorch's own wheels on stand-ins for two devices under seep, and holds what seep saw against PyTorch's totals
and the stand-in's: at the end of every step (of every N-th), in every way to allocate. Of blocks of PyTorch's own
allocator seep compares the totals at each report itself, which is the drift; history.py holds them against the history
that PyTorch writes, event by event; layouts.py where blocks lay as there was no room. What CUDA is asked must be the same without seep.

usage: gpu_torch.py [--keep DIR] [--only cu12|cu13] [--each N] [CASE…]

The wheels, one with CUDA 12 and one with CUDA 13, are installed from PyPI, or from the folder that WHEELS names, into
build/gpu-torch; without either nothing is run. The last line counts; status 1 where anything differed."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import history
import layouts

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SEEP = os.path.abspath(os.environ.get("SEEP", str(ROOT / "build/seep")))
STANDIN = ROOT / "build/tests/standin"
REPORTS = ROOT / "build/tests/gpu-torch/reports.so"
INSTALLED = ROOT / "build/gpu-torch"
WHEELS = os.environ.get("WHEELS")
MIB = 1 << 20
CASE_SECONDS = 900  # for a machine on which much else runs
LACKING = 77  # a case's status where this PyTorch has no such thing

# The versions: one gets the driver's functions for expandable segments by dlsym(), the other by entry points.
VERSIONS = {"cu12": ("12", "2.4.1"), "cu13": ("13", "2.15.0")}
BESIDE = "typing-extensions filelock sympy networkx jinja2 fsspec numpy mpmath markupsafe".split()

# name: (what the job does, its settings, what each tier must be equal to, what else is expected)
CACHING = {"tensor": "allocated", "device": "reserved"}
SILENT = {"silent": True}
ALIKE = {"alike": True}
LOGGED = {"logged": True}  # what PyTorch's allocator reports, in front of seep
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
SMALL = {"STANDIN_CAPACITY": str(512 * MIB)}
CASES = {
    "native": ("plain", {}, CACHING, ALIKE),
    "visible": ("plain", {"STANDIN_VISIBLE": "1"}, CACHING, {}),
    "expandable": ("kept_losses", EXPANDABLE, CACHING, ALIKE),
    "async": ("plain", {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}, {"device": "allocated"}, SILENT),
    "uncached": ("plain", {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}, {"device": "driver"}, SILENT),
    "plugged": ("plugged", {}, {"device": "driver"}, SILENT),
    "pool": ("pool", {}, {"tensor": "allocated", "device": "driver"}, {}),
    "pinned": ("pinned", {}, CACHING, {}),
    "pinned-registered": ("pinned", {"PYTORCH_CUDA_ALLOC_CONF": "pinned_use_cuda_host_register:True"}, CACHING, {}),
    "threads": ("many_threads", {}, CACHING, {}),
    "threads-expandable": ("many_threads", EXPANDABLE, CACHING, {}),
    "history": ("history", {}, CACHING, LOGGED),
    "history-expandable": ("history", EXPANDABLE, CACHING, LOGGED),
    "history-threads": ("history_threads", {}, CACHING, LOGGED),
    "shortage": ("shortage", SMALL, CACHING, {"failed": 3}),
    "shortage-expandable": ("shortage", {**SMALL, **EXPANDABLE}, CACHING, {"failed": 3}),
    "graphs": ("graphs", {}, CACHING, {}),
    "ipc": ("ipc", {}, CACHING, {}),
    "forked": ("forked", {}, CACHING, {}),
}


def output_of(argv, **kw):
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kw)
    return done.returncode, done.stdout


def install_wheel(folder, version, options=()):
    """A PyTorch with nothing else than what it imports, and stand-ins for what it needs of NVIDIA's. Returns why it
    cannot be had, or None where it is there now."""
    python, ready = folder / "venv/bin/python", folder / ("ready-" + version)
    source = ["--no-index", "--find-links", WHEELS] if WHEELS else []
    where = "import os, importlib.util as u; print(os.path.dirname(u.find_spec('torch').origin))"
    steps = [lambda: ["/usr/bin/python3", "-m", "venv", folder / "venv"],
             lambda: [python, "-m", "pip", "install", "-q", "--no-deps", *options, *source, "torch==" + version, *BESIDE],
             lambda: [python, ROOT / "tests/standin/generate.py",
                      output_of([python, "-c", where])[1].strip() + "/lib", folder / "lib"]]
    for step in [] if ready.exists() else steps:
        status, output = output_of(step())
        if status:
            return (output.strip().splitlines() or ["no word of why"])[-1]
    ready.touch()
    return None


def install(name):
    """Returns why the version cannot be had, or None where it is there now."""
    cuda, version = VERSIONS[name]
    folder = INSTALLED / name
    why = install_wheel(folder, version)
    status, output = (0, "") if why else output_of(
        ["cc", "-shared", "-fPIC", "-I" + str(ROOT), "-o", folder / "plugged.so", HERE / "plugged.c",
         STANDIN / cuda / ("libcudart.so." + cuda)])
    return why or (output if status else None)


def environment(name, case, folder):
    cuda, _ = VERSIONS[name]
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SEEP_", "PYTORCH_", "STANDIN_"))}
    env.update(CASES[case][1], LD_LIBRARY_PATH="%s:%s" % (STANDIN / cuda, INSTALLED / name / "lib"),
               PYTHONPATH=str(ROOT / "build/python"), OMP_NUM_THREADS="1", STANDIN_LOG=str(folder / "log-%p.json"),
               PLUGGABLE=str(INSTALLED / name / "plugged.so"))
    if CASES[case][3].get("logged"):
        env.update(REPORTS=str(folder / "reports"), IN_FRONT=str(REPORTS))
    return env


def report_of(profile):
    done = subprocess.run([SEEP, "report", str(profile), "--format", "json", "--layouts"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def differences(report, row, tiers):
    """Between the spaces, as they are now, and a row."""
    wrong = []
    for tier, field in tiers.items():
        for device, expected in enumerate(row[field]):
            space = "%s:%d" % (tier, device)
            live = report["spaces"].get(space, {"live_bytes": 0})["live_bytes"]
            if live != expected:
                wrong.append("%s is %d, not %d" % (space, live, expected))
    pinned = report["spaces"].get("pinned", {"live_bytes": 0})["live_bytes"]
    expected = row.get("pinned", pinned)
    wrong += ["pinned is %d, not %d" % (pinned, expected)] if pinned != expected else []
    wrong += history.differences(report, row) if "history" in row else []
    return wrong + (layouts.differences(report, row) if "shortage" in row else [])


def follow(process, profile, tiers, each):
    """Compares at the ends of steps while the job waits. Returns (differences, steps, how many were compared)."""
    wrong, n, compared = [], 0, 0
    for line in process.stdout:
        if not line.startswith("{"):
            continue  # a warning of PyTorch's
        n += 1
        if each and (n - 1) % each == 0:
            compared += 1
            wrong += ["step %d: %s" % (n, w) for w in differences(report_of(profile), json.loads(line), tiers)]
        process.stdin.write("\n")
        process.stdin.flush()
    return wrong, n, compared


def run(name, case, folder, each):
    """(differences, steps, compared, status) of a job; its profile lies in the folder. Without `each` it runs without
    seep, and nothing is compared."""
    python = INSTALLED / name / "venv/bin/python"
    return run_job(python, CASES[case][0], CASES[case][2], environment(name, case, folder), folder, each)


def run_job(python, job, tiers, env, folder, each, options=()):
    profile = folder / "profile.d"
    under = [SEEP, "run", "-q", *options, "-o", str(profile), "--"] if each else []
    if "IN_FRONT" in env:
        under += ["sh", "-c", 'LD_PRELOAD="$IN_FRONT:$LD_PRELOAD" exec "$@"', "sh"]
    with open(folder / "stderr", "w") as err:
        process = subprocess.Popen([*under, str(python), str(HERE / "job.py"), job], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=err, text=True, env=env)
    watch = threading.Timer(CASE_SECONDS, process.kill)
    watch.start()
    try:
        return (*follow(process, profile, tiers, each), process.wait())
    finally:
        watch.cancel()


def judge(report, expected):
    """What is wrong with the report of the whole run, as texts."""
    wrong = []
    for books in report["coverage"].get("tensors", []):
        if books["drift_bytes"]:
            wrong.append("tensor:%(device)d: drift %(drift_bytes)d" % books)
    failed = [r for r in report.get("out_of_memory", []) if r["space"].startswith("tensor:")]
    if len(failed) != expected.get("failed", 0):
        wrong.append("%d requests failed" % len(failed))
    for space in report["spaces"]:
        if expected.get("silent") and space.startswith("tensor:"):
            wrong.append("%s is not silent" % space)
    if report["job"]["dropped_events"]:
        wrong.append("events were dropped")
    return wrong


def logs(folder):
    return [json.loads(f.read_text()) for f in sorted(folder.glob("log-*.json"))]


def conduct(name, case, folder, expected):
    """What CUDA could have noticed, as texts: a call in a forked child, and where the job does the same each time,
    anything that it is not asked without seep."""
    wrong = ["%d calls in a forked child" % log["forked_calls"] for log in logs(folder) if log["forked_calls"]]
    if not expected.get("alike"):
        return wrong
    plain = folder / "plain"
    plain.mkdir()
    if run(name, case, plain, None)[-1]:
        return wrong + ["it fails without seep: " + (plain / "stderr").read_text().strip()[-300:]]
    alone, seen = ({k: v for k, v in logs(f)[0].items() if k != "pid"} for f in (plain, folder))
    differing = [key for key in alone if seen[key] != alone[key]]
    return wrong + ["%s: %s, without seep %s" % (key, seen[key], alone[key]) for key in differing]


def examine(name, case, folder, each):
    """Prints one verdict. Returns which of the counts it is."""
    wrong, steps, compared, status = run(name, case, folder, each)
    if status == LACKING:
        print("%s  %-20s skipped: this PyTorch has no such thing" % (name, case), flush=True)
        return "skipped"
    if status != 0:
        said = (folder / "stderr").read_text().strip()[-1500:]
        print("%s  %-20s FAILED: status %d\n%s" % (name, case, status, said), flush=True)
        return "failed"
    report = report_of(folder / "profile.d")
    expected = CASES[case][3]
    wrong += judge(report, expected) + conduct(name, case, folder, expected)
    blocks = sum(books["reports"] for books in report["coverage"].get("tensors", []))
    print("%s  %-20s %s" % (name, case, "WRONG  " + "; ".join(wrong) if wrong else
                            "ok     %d steps, %d compared, drift 0 at %d reports" % (steps, compared, blocks)),
          flush=True)
    return "failed" if wrong else "passed"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keep", metavar="DIR")
    parser.add_argument("--only", choices=VERSIONS)
    parser.add_argument("--each", metavar="N", type=int, default=1)
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    count = {"passed": 0, "failed": 0, "skipped": 0}
    for name in [args.only] if args.only else VERSIONS:
        why = install(name)
        if why:
            print("%s  skipped: torch %s could not be installed: %s" % (name, VERSIONS[name][1], why))
        for case in () if why else args.cases or CASES:
            with tempfile.TemporaryDirectory(prefix="seep-gpu-torch-") as scratch:
                folder = pathlib.Path(args.keep or scratch) / ("%s-%s" % (name, case))
                folder.mkdir(parents=True)
                count[examine(name, case, folder, args.each)] += 1
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % count)
    return count["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
