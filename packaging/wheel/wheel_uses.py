"""The ways to use an installed wheel, each a check that raises AssertionError: check_wheel.py shows them as columns."""
import glob
import json
import os
import pathlib
import re
import subprocess
import time

# A job that keeps 20 KiB a step: 300 steps, or until a file appears. Then, told so, it waits to be looked at.
JOB = """
import os, sys, time, seep
kept = []
def train_step():
    kept.append(bytearray(20480))
def more():
    return not os.path.exists(sys.argv[2]) if "until" in sys.argv else len(kept) < 300
while more():
    train_step()
    seep.step()
    if "until" in sys.argv:
        time.sleep(0.005)
print("recorded" if seep.active() else "alone", len(kept), flush=True)
if "wait" in sys.argv:
    time.sleep(600)
"""
LINE = 5  # of the JOB's that keeps
TEST = """
import pytest
kept = []
@pytest.mark.seep_growth("4KiB")
def test_leaks():
    kept.append(bytearray(50000))
"""
LONGEST = 300


class Absent(Exception):
    """What a check needs cannot be had here."""


class Installed:
    """The wheel in a venv: its command, its Python, and a folder to work in."""

    def __init__(self, base, venv, scratch):
        self.base, self.venv, self.scratch = base, venv, scratch
        self.seep, self.python = venv / "bin/seep", venv / "bin/python"
        self.job, self.profile = scratch / "train.py", scratch / "run.d"
        self.job.write_text(JOB)


def output_of(*command, status=0, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=LONGEST, **options)
    if done.returncode != status:
        raise AssertionError("%s: exit %d\n%s" % (" ".join(map(str, command)), done.returncode, done.stdout))
    return done.stdout


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def until(condition, what):
    end = time.monotonic() + LONGEST
    while not condition():
        expect(time.monotonic() < end, what)
        time.sleep(0.05)


class Job:
    """One that runs beside a check, and ends with it."""

    def __init__(self, it, *arguments, **variables):
        self.process = subprocess.Popen([str(word) for word in (it.python, it.job, *arguments)], stdout=subprocess.PIPE,
                                        text=True, env=dict(os.environ, **variables))
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def finds_the_line(seep, folder):
    findings = json.loads(output_of(seep, "report", folder, "--format", "json"))["findings"]
    return any(finding["pattern"] == "unbounded-growth" and finding["frame"]["line"] == LINE for finding in findings)


def check_run(it):
    expect(re.fullmatch(r"seep \d+\.\d+\.\d+\n", output_of(it.seep, "--version")), "seep --version")
    said = output_of(it.seep, "run", "-o", it.profile, "--", it.python, it.job)
    expect("recorded 300" in said, "the job was not recorded:\n" + said)
    expect("unbounded-growth" in said, "the leak was not found:\n" + said)


def check_report(it):
    expect(finds_the_line(it.seep, it.profile), "the report does not name line %d of the job" % LINE)


def check_view(it):
    page = it.scratch / "page.html"
    output_of(it.seep, "view", it.profile, "-o", page)
    expect("unbounded-growth" in page.read_text(), "the page does not have the finding")


def check_top(it):
    said = output_of(it.seep, "top", "--once", it.profile)
    expect("train.py:%d" % LINE in said, "seep top does not show the line that grows:\n" + said)


def check_look(it):
    """At a job that runs without seep."""
    with Job(it, "wait") as job:
        expect(job.process.stdout.readline() == "alone 300\n", "the job alone does not say that it is alone")
        look = json.loads(output_of(it.seep, "look", job.pid, "--format", "json"))
        expect("kept" in json.dumps(look), "seep look does not name the list `kept`")


def check_wake(it):
    """A job that waits with the wheel's library preloaded."""
    stop, folder = it.scratch / "stop", it.scratch / "woken.d"
    with Job(it, "until", stop, LD_PRELOAD=str(it.venv / "lib64/seep/libseep.so"), SEEP_WAIT="1") as job:
        maps = pathlib.Path("/proc/%d/maps" % job.pid)
        until(lambda: "libseep.so" in maps.read_text(), "libseep.so is not in the job")
        output_of(it.seep, "wake", job.pid, "-o", folder)
        until(lambda: glob.glob(str(folder / ("%d-*.seep" % job.pid))), "the job does not record")
        until(lambda: finds_the_line(it.seep, folder), "the report of the woken job does not name the line")
        stop.touch()
        job.process.wait(LONGEST)


def has_module(python, name):
    return subprocess.run([python, "-c", "import " + name], stderr=subprocess.DEVNULL).returncode == 0


def check_pytest(it):
    if not has_module(it.python, "pytest"):
        raise Absent("pytest cannot be had")
    (it.scratch / "test_growth.py").write_text(TEST)
    said = output_of(it.python, "-m", "pytest", it.scratch / "test_growth.py", status=1, cwd=it.scratch)
    expect("most of it: test_growth.py:6 in test_leaks" in said, "the failure does not name the line:\n" + said)


def check_places(it, pip_install):
    """The command finds its library wherever pip puts them. `--user` is tried in a home of its own."""
    for option in ("--target", "--prefix"):
        folder = it.scratch / option.strip("-")
        output_of(it.python, *pip_install, option, folder)
        runs(folder, it.python, it.job, {})
    if not has_module(it.base, "pip"):
        raise Absent("--user was not tried: this Python has no pip")
    folder = it.scratch / "user"
    env = {"HOME": str(it.scratch / "home"), "PYTHONUSERBASE": str(folder), "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    output_of(it.base, *pip_install, "--user", env=dict(os.environ, **env))
    runs(folder, it.base, it.job, env)


def runs(folder, python, job, variables):
    said = output_of(folder / "bin/seep", "run", "-o", folder / "run.d", "--", python, job,
                     env=dict(os.environ, **variables))
    expect("recorded 300" in said, "in %s: the job was not recorded:\n%s" % (folder, said))
