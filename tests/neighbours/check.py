"""Files that other tools really write, read by seep: what is live to the byte, and the line that grew.

JAX is installed from PyPI into build/neighbours; without it nothing is run. The last line counts; status 1 where anything
differed."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SEEP = os.environ.get("SEEP", str(ROOT / "build/seep"))
VENV = ROOT / "build/neighbours/venv"
JAX = "jax[cpu]==0.10.2"


def seep(*argv):
    return subprocess.run([SEEP, *map(str, argv)], stdout=subprocess.PIPE, check=True).stdout.decode()


def jax(folder, hold):
    files = [folder / "before.prof", folder / "after.prof"]
    done = subprocess.run([VENV / "bin/python", HERE / "jax_job.py", *files], stdout=subprocess.PIPE, check=True)
    for file, live in zip(files, json.loads(done.stdout)):
        spaces = json.loads(seep("report", "--format", "json", file))["spaces"]
        hold("jax: live in " + file.name, spaces["host"]["live_bytes"], live)
    line = next(n for n, text in enumerate((HERE / "jax_job.py").read_text().splitlines(), 1) if "# LEAK" in text)
    text = seep("diff", *files)
    hold("jax: the line that grew", "+20.0 MiB" in text and "jax_job.py:%d in remember" % line in text, True)


def main():
    if not (VENV / "ready").exists():
        for argv in (["/usr/bin/python3", "-m", "venv", VENV], [VENV / "bin/pip", "install", "-q", JAX]):
            done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                print("skipped: %s cannot be installed: %s" % (JAX, done.stdout.strip().splitlines()[-1:]))
                return 0
        (VENV / "ready").touch()
    count = {"passed": 0, "failed": 0}

    def hold(what, ours, real):
        count["passed" if ours == real else "failed"] += 1
        print("%-40s %s" % (what, "ok" if ours == real else "%s, not %s" % (ours, real)), flush=True)

    with tempfile.TemporaryDirectory(prefix="seep-neighbours-") as folder:
        jax(pathlib.Path(folder), hold)
    print("%(passed)d passed, %(failed)d failed" % count)
    return count["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
