"""Holds what seep says PyTorch's allocator would have reserved against what it does reserve: requests.py is run on the
stand-in by each setting, and the snapshot of the run by the defaults is judged. PyTorch 2.15.0 is also held to
tests/torch/allocator_peaks.def, by which `make check` tests the model.

The wheels are those that `make gpu-torch` has installed. The last line counts; status 1 where anything differed."""
import ast
import json
import os
import re
import subprocess
import sys
import tempfile

from gpu_torch import HERE, INSTALLED, ROOT, SEEP, STANDIN, VERSIONS

CONTEXT_BYTES = 64 << 20  # of the stand-in: what CUDA itself takes
ROW = re.compile(r'^PEAK\((\d+), "(.*?)", (\d+), (\d+), (\d+), (\d+)\)$', re.M)
PEAKS = [(int(seed), setting, *map(int, rest)) for seed, setting, *rest in
         ROW.findall((ROOT / "tests/torch/allocator_peaks.def").read_text())]


def asked(name, seed, setting, room, *snapshot):
    """What PyTorch says that it had reserved."""
    env = {**os.environ, "LD_LIBRARY_PATH": "%s:%s" % (STANDIN / VERSIONS[name][0], INSTALLED / name / "lib"),
           "PYTORCH_CUDA_ALLOC_CONF": setting, "OMP_NUM_THREADS": "1"}
    if room:
        env["STANDIN_CAPACITY"] = str(room + CONTEXT_BYTES)
    python = INSTALLED / name / "venv/bin/python"
    done = subprocess.run([str(python), str(HERE / "requests.py"), str(seed), *snapshot], env=env, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    said = ast.literal_eval(done.stdout.splitlines()[-1])
    assert not room or said["free"] == room, "the stand-in's context takes another size: %s" % said
    return said


def foreseen(name, seed, folder):
    """By setting, what seep says of a snapshot: {setting: bytes}; of "" what was in fact."""
    snapshot = os.path.join(folder, "%s-%d.pickle" % (name, seed))
    asked(name, seed, "", 0, snapshot)
    done = subprocess.run([SEEP, "report", "--format", "json", snapshot], stdout=subprocess.PIPE, check=True)
    return {t["change"]: t["peak_bytes"] for t in json.loads(done.stdout)["what_if"] if not t["frame"]}


def main():
    count = {"same": 0, "different": 0}

    def hold(name, what, real, ours):
        count["same" if real == ours else "different"] += 1
        print("%s  %-48s %s" % (name, what, "ok" if real == ours else "%s, not %s" % (ours, real)), flush=True)

    for name in VERSIONS:
        if not (INSTALLED / name / "venv/bin/python").exists():
            print("%s  skipped: make gpu-torch installs it" % name)
            continue
        for seed, setting, room, *row in PEAKS if name == "cu13" else ():
            said = asked(name, seed, setting, room)
            hold(name, "seed %d, %s, room %d" % (seed, setting or "defaults", room),
                 [said["peak"], said["reserved"], said["refused"]], row)
        with tempfile.TemporaryDirectory(prefix="seep-what-ifs-") as folder:
            for seed in sorted({row[0] for row in PEAKS}):
                for setting, peak in foreseen(name, seed, folder).items():
                    real = asked(name, seed, setting, 0)["peak"]
                    hold(name, "seed %d, foreseen: %s" % (seed, setting or "defaults"), real, peak)
    print("%(same)d the same, %(different)d different" % count)
    return count["different"] > 0


if __name__ == "__main__":
    sys.exit(main())
