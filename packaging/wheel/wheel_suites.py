"""wheel_suites.py WHEEL: runs the tests from outside with the command and the library that pip installs from the wheel:
those in BY_PYTHON in a venv of each CPython found, whose Python then runs their jobs, and all of them in a venv of the
Python that runs this. SUITES="NAME…" limits it to these. Ends with the counts; build/wheel/suites.log has the rest.

wheel_suites.py run SUITE: runs one of them, without the tests that do not apply."""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HOME = pathlib.Path(__file__).resolve().parent
ROOT = HOME.parents[1]
FOLDERS = ("tests/e2e", "tests/cli", "tests/pytest")
# Suites, or tests of one, about what is not in the wheel.
NOT_APPLICABLE = {
    "tests.cli.test_lab": "seep-lab is not in the wheel",
    "tests.e2e.test_lab": "seep-lab is not in the wheel",
    "tests.cli.test_run_all": "about the runner of the tests",
    "tests.cli.test_help.Help.test_manual_pages_are_well_formed_and_say_what_help_says": "no manual pages in the wheel",
    "tests.cli.test_options.Completion": "no completion in the wheel",
    "tests.e2e.test_corrupt": "the sanitized command reads the same files; make check runs it",
}
# Jobs of these ask for nothing but the standard library of the Python that runs them.
BY_PYTHON = ("tests.e2e.test_wake", "tests.e2e.test_unborn", "tests.cli.test_launcher")
TIMEOUT = float(os.environ.get("SEEP_TEST_TIMEOUT", "1800"))


def applicable(tests):
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from applicable(test)
        elif not any((test.id() + ".").startswith(name + ".") for name in NOT_APPLICABLE):
            yield test


def run_one(name):
    result = unittest.TextTestRunner(verbosity=2).run(
        unittest.TestSuite(applicable(unittest.defaultTestLoader.loadTestsFromName(name))))
    sys.exit(0 if result.wasSuccessful() else 1)


def suites():
    found = [".".join(path.relative_to(ROOT).with_suffix("").parts) for folder in FOLDERS
             for path in sorted((ROOT / folder).glob("test_*.py"))]
    return [name for name in found if name not in NOT_APPLICABLE]


class Place:
    """A venv with the wheel, whose Python runs the jobs that any Python can run."""

    def __init__(self, version, python, wheel, at, log):
        self.name, self.log, venv = "CPython %d.%d.%d" % version, log, at / "venv"
        subprocess.run([python, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install", "--no-index",
                        "--no-deps", wheel], check=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SEEP", "PYTHON", "LD_PRELOAD"))}
        self.env.update(SEEP=str(venv / "bin/seep"), SEEP_SHIM=str(venv / "lib64/seep/libseep.so"),
                        PYTHONPATH=str(ROOT))
        self.venv = venv

    def run(self, suite, counts, own_jobs):
        """The suite itself runs in the Python that this program has; own_jobs: its jobs in the venv's."""
        env = dict(self.env, SEEP_JOB_PYTHON=str(self.venv / "bin/python")) if own_jobs else self.env
        try:
            done = subprocess.run([sys.executable, __file__, "run", suite], env=env, cwd=ROOT, timeout=TIMEOUT,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
            said, failed = done.stdout, done.returncode != 0
        except subprocess.TimeoutExpired as error:
            said, failed = (error.stdout or b"") + b"\nnot done in %g s\n" % TIMEOUT, True
        said = said.decode("utf-8", "replace")
        got = {word: int(n) for word, n in re.findall(r"(failures|errors|skipped)=(\d+)", said.rpartition("\nRan ")[2])}
        ran = re.search(r"\nRan (\d+) test", said)
        bad = got.get("failures", 0) + got.get("errors", 0) or int(failed)
        ran = max(int(ran.group(1)) if ran else 0, bad)
        counts["failed"] += bad
        counts["skipped"] += got.get("skipped", 0)
        counts["passed"] += ran - bad - got.get("skipped", 0)
        self.log.write("==== %s, from the wheel in a venv of %s\n%s\n" % (suite, self.name, said))
        print("%-5s %s: %s, %d tests, %d failed" % ("FAIL" if bad else "ok", self.name, suite, ran, bad), flush=True)


def main(wheel):
    from check_wheel import pythons

    wheel = pathlib.Path(wheel).resolve()
    found = pythons()
    counts = collections.Counter(passed=0, failed=0, skipped=0)
    for name, reason in NOT_APPLICABLE.items():
        print("      not run: %s: %s" % (name, reason))
    only = os.environ.get("SUITES", "").split()
    with open(ROOT / "build/wheel/suites.log", "w", encoding="utf-8") as log, tempfile.TemporaryDirectory() as at:
        os.chmod(at, 0o755)
        for n, (version, python) in enumerate(found):
            place = Place(version, python, wheel, pathlib.Path(at) / str(n), log)
            for suite in only or BY_PYTHON:
                place.run(suite, counts, own_jobs=True)
        whole = Place(sys.version_info[:3], sys.executable, wheel, pathlib.Path(at) / "whole", log)
        for suite in only or suites():
            whole.run(suite, counts, own_jobs=False)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run_one(sys.argv[2])
    main(sys.argv[1])
