"""arm_kit.py: on a 64-bit Arm machine, what emulation cannot settle; docs/processors.md says what each part is for.

Prints what the machine is, then a line for each part, and keeps all output below build/arm-kit. Status 1 if a part failed,
2 on another machine."""
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ROOT / "build/arm-kit"
# name: (what it settles, the command)
PARTS = {
    "unit": ("stacks of signed return addresses, signal frames with SVE and SME, pages of this size", "make check-unit"),
    "order": ("the order of memory", "make check-arm-order"),
    "counts": ("exact counts, kills, forks, looks, copies",
               "{python} tests/run-all tests/e2e/test_counts.py tests/e2e/test_kill.py tests/e2e/test_fork.py tests/e2e/test_snapshots.py "
               "tests/e2e/test_look_holders.py tests/e2e/test_look_owners.py tests/e2e/test_look_unnoticed.py tests/e2e/test_rss.py"),
    "zoo": ("verdicts", "{python} -m unittest tests.zoo.test_zoo"),
    "tags": ("blocks whose addresses have tags (MTE)", "GLIBC_TUNABLES=glibc.mem.tagging=1 {python} -m unittest tests.e2e.test_counts"),
    "cost": ("what recording costs", "make bench-jobs"),
}
FEATURES = ("paca", "bti", "sve", "sve2", "sme", "mte", "atomics", "uscat", "ilrcpc")


def machine():
    cpus = pathlib.Path("/proc/cpuinfo").read_text()
    told = set(re.findall(r"^Features\s*: (.*)$", cpus, re.M)[0].split()) if "Features" in cpus else set()
    nodes = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*")))
    return "%s, pages of %d KiB, %d CPUs, %d NUMA nodes, %s" % (
        platform.release(), os.sysconf("SC_PAGESIZE") // 1024, os.cpu_count(), nodes,
        " ".join(name for name in FEATURES if name in told) or "no extensions")


def main():
    if platform.machine() != "aarch64":
        print("arm_kit: this machine is %s: run it on one of 64-bit Arm" % platform.machine(), file=sys.stderr)
        return 2
    KEPT.mkdir(parents=True, exist_ok=True)
    failed = 0
    own = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    print(machine())
    for name, (settles, command) in PARTS.items():
        began = time.monotonic()
        with open(KEPT / (name + ".log"), "wb") as log:
            status = subprocess.run(["sh", "-c", command.format(python=sys.executable)], cwd=ROOT, stdout=log,
                                    stderr=subprocess.STDOUT, env={**own, "SEEP": str(ROOT / "build/seep")}).returncode
        failed += status != 0
        print("%-6s %-8s %6.0f s  %s" % ("ok" if status == 0 else "FAILED", name, time.monotonic() - began, settles), flush=True)
    print("all output: %s" % KEPT)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
