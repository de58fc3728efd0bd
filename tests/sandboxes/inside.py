"""Runs jobs under seep, and prints what came of them as one line of JSON. usage: inside.py SEEP SUITE…"""
import json
import os
import subprocess
import sys
import tempfile

PYTHON = "/usr/bin/python3"
LEAKS = """
import os, threading, time, seep
kept = []
def leak():
    kept.append(bytearray(300000))
for step in range(60):
    leak()
    time.sleep(0.01)
    seep.step()
threads = [threading.Thread(target=lambda: [bytearray(5000) for _ in range(1000)]) for _ in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
child = os.fork()
if not child:
    in_child = [bytearray(100000) for _ in range(10)]
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
JOBS = {"true": ["/bin/true"], "python": [PYTHON, "-c", "pass"], "leaks": [PYTHON, "-c", LEAKS],
        "shell": ["/bin/sh", "-c", "for i in 1 2 3; do /bin/true; done; exit 7"]}


def run(seep, folder, job):
    done = subprocess.run([seep, "run", "-q", "-o", folder, "--", *job], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    told = {"status": done.returncode, "out": done.stdout.decode(), "err": done.stderr.decode()}
    path = os.path.join(folder, "report.json")
    if os.path.exists(path):
        with open(path) as f:
            report = json.load(f)
        told["findings"] = [(f["severity"], (f["frame"] or {}).get("function")) for f in report["findings"]]
        told["processes"] = [(p["exit"]["value"], p["spaces"].get("host", {}).get("allocations"))
                             for p in report["processes"]]
    return told


def main(seep, *suites):
    with tempfile.TemporaryDirectory() as folder:
        told = {name: run(seep, os.path.join(folder, name + ".d"), job) for name, job in JOBS.items()}
    doctor = subprocess.run([seep, "doctor"], stdout=subprocess.PIPE)
    told["doctor"] = {"status": doctor.returncode, "out": doctor.stdout.decode()}
    for suite in suites:
        done = subprocess.run([suite], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        told[os.path.basename(suite)] = {"status": done.returncode, "out": done.stdout.decode()}
    print("\n" + json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
