"""A whole session recorded: pytest runs again as a job of `seep run`, a step for each test, and sums up at its end."""
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

import seep
from seep.command import find_seep, output_of
from seep.pytest_limits import child_environment, profiles_folder, pytest_command, seep_command
from seep.pytest_plugin import SESSION
from seep.sizes import size_text

SHOWN, LONGEST_LOOK = 10, 10


def record(config):
    """Runs the same pytest under seep, with the same terminal; its exit status is ours."""
    folder = os.path.join(profiles_folder(config), "session.d")
    shutil.rmtree(folder, ignore_errors=True)
    command = [seep_command(), "run", "-q", "-o", folder, "--"] + pytest_command(config)
    child = subprocess.Popen(command, env=child_environment(**{SESSION: folder}), cwd=str(config.invocation_params.dir))
    try:
        before = signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    except ValueError:  # not the main thread
        before = None
    try:
        while True:
            try:
                return child.wait()
            except KeyboardInterrupt:
                pass  # the terminal has sent it to pytest, too, which ends in its own way
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


class Session:
    def __init__(self, folder, root):
        self.folder, self.root, self.looks = folder, root, set()
        self.tests = {}  # (file, function): name, of all that ran here and, in front of xdist's workers, there
        self.kept = {}   # name: bytes, as the workers told

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self):
        yield
        seep.step()

    def pytest_runtest_logreport(self, report):
        file, _, domain = report.location
        name = domain.partition("[")[0]
        path = os.path.realpath(os.path.join(self.root, file))
        self.tests[path, name.split(".")[-1]] = "%s::%s" % (file, name.replace(".", "::"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session):
        self.looks = self.looks_taken()
        seep.holders()
        output = getattr(session.config, "workeroutput", None)
        if output is not None:  # what this worker of xdist keeps is live no longer when the session ends
            try:
                output["seep_kept"] = self.kept_here()
            except (OSError, ValueError, subprocess.CalledProcessError):
                pass

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self.add(getattr(node, "workeroutput", {}).get("seep_kept", {}))

    def add(self, kept):
        for name, size in kept.items():
            self.kept[name] = self.kept.get(name, 0) + size

    def kept_here(self):
        """Of this process alone, for which a folder with a link to its profile stands: --process would add xdist's
        workers, which tell for themselves."""
        with tempfile.TemporaryDirectory() as folder:
            for profile in glob.glob(os.path.join(glob.escape(self.folder), "%d-*.seep" % os.getpid())):
                os.symlink(profile, os.path.join(folder, os.path.basename(profile)))
            return kept_by_test(json.loads(output_of(find_seep(), "report", folder, "--all", "--format", "json")),
                                self.tests)

    def looks_taken(self):
        try:
            return {name for name in os.listdir(self.folder) if name.startswith("holders-")}
        except OSError:  # a test has removed it
            return set()

    def is_answered(self):
        """Whether the look that was asked for is there: one of earlier steps may come before it."""
        for name in self.looks_taken() - self.looks:
            try:
                with open(os.path.join(self.folder, name), encoding="utf-8") as look:
                    if json.load(look)["source"] == "request":
                        return True
            except (OSError, ValueError, KeyError):
                pass
        return False

    def await_look(self):
        """Who holds what is read by `seep run` beside this process, which takes a moment."""
        end = time.monotonic() + (0 if os.environ.get("SEEP_HOLDERS") == "off" else LONGEST_LOOK)
        while not self.is_answered() and time.monotonic() < end:
            time.sleep(0.02)

    def pytest_terminal_summary(self, terminalreporter, config):
        if hasattr(config, "workerinput"):
            return  # a worker of xdist, whose words nobody sees
        write = terminalreporter.write_line
        terminalreporter.section("memory, by seep")
        try:
            self.add(self.kept_here())
            command = [find_seep(), "report", self.folder]
            report = json.loads(output_of(*command, "--format", "json"))
            if report["findings"]:
                self.await_look()
            text = output_of(*command)
        except (OSError, ValueError, subprocess.CalledProcessError) as e:
            write("no report: %s" % (getattr(e, "stderr", None) or e))
            return
        for line in findings_of(text) if report["findings"] else what_was_seen(report, len(self.tests)):
            write(line)
        if self.kept:
            write("Kept to the end of the session, by the test that allocated it:")
            for size, name in sorted(((size, name) for name, size in self.kept.items()), reverse=True)[:SHOWN]:
                write("  %10s  %s" % (size_text(size), name))
            write("")
        write("In a browser: seep view %s" % os.path.relpath(self.folder))


def findings_of(text):
    """The lines of a printed report up to the facts about the job."""
    lines = text.splitlines()
    for n, line in enumerate(lines):
        if line.startswith("command  "):
            return lines[:n]
    return lines


def what_was_seen(report, tests):
    """Of a session without findings."""
    job, host = report["job"], report["spaces"].get("host", {"peak_bytes": 0, "live_bytes": 0})
    few = job["judged_steps"] < job["judged_steps_needed"]
    return ["%d test%s: host memory was %s at most, and is %s at the end" % (
                tests, "" if tests == 1 else "s", size_text(host["peak_bytes"]), size_text(host["live_bytes"])),
            "Growth from test to test shows from %d tests on; mark one with seep_growth to have it repeated"
            % (job["steps"] + job["judged_steps_needed"] - job["judged_steps"])
            if few else "No line's memory grows from test to test", ""]


def kept_by_test(report, tests):
    """Live bytes of the sites in whose stack a test is."""
    kept = {}
    for site in report["sites"]:
        for frame in site["stack"]:
            name = frame["kind"] == "python" and tests.get(
                (os.path.realpath(frame.get("file") or ""), (frame.get("function") or "").split(".")[-1]))
            if name:
                if site["live_bytes"]:
                    kept[name] = kept.get(name, 0) + site["live_bytes"]
                break
    return kept
