"""`seep view PID` and --open: from a process to a page in a browser in one command."""
import os
import signal
import subprocess
import sys
import time
import unittest

from tests.cli.running_jobs import WAIT, RunningJob
from tests.e2e.support import SEEP, SeepCase, children_of, job_env, needs_to_read_children

JOB = """
import ctypes, sys
# PR_SET_PTRACER, anybody: where Yama lets only ancestors look.
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
kept = [bytearray(20000) for _ in range(500)]
print("ready", flush=True)
sys.stdin.read()
"""
RECORDED = """
import os, sys, time
kept = []
while not os.path.exists(sys.argv[1]):
    kept.append(bytearray(30000))
    time.sleep(0.02)
"""
BROWSER = """#!/bin/sh
echo "$*" >"$0.new"
mv "$0.new" "$0.opened"
"""


class Opening(SeepCase):
    def setUp(self):
        super().setUp()
        self.browser = self.path("browser")
        with open(self.browser, "w") as f:
            f.write(BROWSER)
        os.chmod(self.browser, 0o755)

    def run_seep(self, *args, **env):
        env = job_env(DISPLAY=None, WAYLAND_DISPLAY=None, **{"BROWSER": None, **env})
        return subprocess.run([SEEP, *args], cwd=self.dir, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WAIT)

    def opened(self):
        """What the browser was given; it is not waited for."""
        end = time.monotonic() + WAIT
        while not os.path.exists(self.browser + ".opened"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        with open(self.browser + ".opened") as f:
            return f.read().strip()


@needs_to_read_children
class OfAProcess(Opening):
    def setUp(self):
        super().setUp()
        self.job = subprocess.Popen([sys.executable, "-c", JOB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.job.communicate)
        self.job.stdout.readline()
        self.page = "look-%d.html" % self.job.pid

    def holds_the_list(self):
        with open(self.path(self.page), encoding="utf-8") as f:
            self.assertIn("module __main__.kept (list)", f.read())

    def test_a_process_that_seep_does_not_record_is_looked_at(self):
        done = self.run_seep("view", str(self.job.pid))
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", self.page + "\n"))
        self.holds_the_list()
        self.assertEqual(os.listdir(self.dir).count(self.page), 1)

    def test_it_is_opened(self):
        done = self.run_seep("view", "--open", "-o", "a.html", str(self.job.pid), BROWSER=self.browser)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.opened(), "a.html")

    def test_a_look_is_printed_and_opened(self):
        done = self.run_seep("look", "--open", str(self.job.pid), BROWSER=self.browser)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("module __main__.kept (list)", done.stdout)
        self.assertEqual(self.opened(), self.page)
        self.holds_the_list()

    def test_without_a_display_it_is_said_what_to_open(self):
        done = self.run_seep("view", "--open", str(self.job.pid))
        self.assertEqual(done.returncode, 2)
        self.assertIn("without a display: open %s on your own machine" % self.page, done.stderr)
        done = self.run_seep("view", "--open", str(self.job.pid), BROWSER=self.path("none"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("none cannot be run (No such file or directory): set BROWSER, or open %s yourself" % self.page, done.stderr)
        self.holds_the_list()

    def test_what_is_no_process_is_said(self):
        self.job.send_signal(signal.SIGKILL)
        self.job.wait()
        done = self.run_seep("view", str(self.job.pid))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"^seep: there is no process %d\n$" % self.job.pid)


class OfAJob(RunningJob, Opening):
    def test_a_process_under_seep_leads_to_its_job(self):
        folder = self.path("run.d")
        self.start_job(folder, RECORDED)
        end = time.monotonic() + WAIT
        while self.run_seep("report", folder).returncode:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        pid = children_of(self.job.pid)[0]
        done = self.run_seep("view", str(pid))
        self.assertEqual((done.returncode, done.stdout), (0, os.path.join(os.path.realpath(folder), "view.html") + "\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
