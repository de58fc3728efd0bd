"""tests/run-all counts what ran: a suite in which nothing ran has failed."""
import importlib.machinery
import importlib.util
import re
import signal
import subprocess
import sys
import threading
import time
import unittest

from tests.e2e.support import ROOT, SeepCase, kill_session, session_members

CASE = "import unittest\nclass Some(unittest.TestCase):\n%s"
# In a session of its own, one with an orphan; in the suite's session, but in a group of its own; tells both sessions.
STARTS_OTHERS = """
import os, subprocess, time
nest = subprocess.Popen(["sh", "-c", "(sleep 60 &) ; setsid sleep 60 & echo $! ; exec sleep 60"],
                        stdout=subprocess.PIPE, start_new_session=True)
subprocess.Popen(["sleep", "60"], preexec_fn=lambda: os.setpgid(0, 0))
print(nest.pid, int(nest.stdout.readline()), flush=True)
time.sleep(60)
"""
PASSING = "    def test_it(self):\n        self.assertTrue(True)\n"


def load():
    path = str(ROOT / "tests/run-all")
    loader = importlib.machinery.SourceFileLoader("run_all", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_all", loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


class Counting(SeepCase):
    def unittest_counts(self, text):
        """(passed, failed, skipped) of a suite with this text."""
        with open(self.path("suite.py"), "w") as f:
            f.write(text)
        done = self.command([sys.executable, "-B", "-m", "unittest", "-v", "suite"], cwd=self.dir)
        return load().count_unittest(done.stdout + done.stderr, done.status)[:3]

    def test_a_module_without_tests_has_failed(self):
        self.assertEqual(self.unittest_counts(CASE % "    pass\n"), (0, 1, 0))
        self.assertEqual(self.unittest_counts("for x in []:\n    pass\n"), (0, 1, 0))

    def test_the_end_of_newer_pythons_without_tests(self):
        end = b"\n" + b"-" * 70 + b"\nRan 0 tests in 0.000s\n\nNO TESTS RAN%s\n"
        self.assertEqual(load().count_unittest(end % b"", 5)[:3], (0, 1, 0))
        self.assertEqual(load().count_unittest(end % b" (skipped=1)", 5)[:3], (0, 0, 1))

    def test_what_says_that_it_is_skipped_has_not(self):
        skip = "    @unittest.skip('not here')\n"
        self.assertEqual(self.unittest_counts(CASE % (skip + PASSING)), (0, 0, 1))
        whole = "    @classmethod\n    def setUpClass(cls):\n        raise unittest.SkipTest('not here')\n"
        self.assertEqual(self.unittest_counts(CASE % (whole + PASSING)), (0, 0, 1))

    def test_what_passes_and_fails_is_counted(self):
        other = "    def test_other(self):\n        self.fail()\n"
        self.assertEqual(self.unittest_counts(CASE % PASSING), (1, 0, 0))
        self.assertEqual(self.unittest_counts(CASE % (PASSING + other)), (1, 1, 0))
        self.assertEqual(self.unittest_counts("import nothing_of_that_name\n")[1], 1)

    def test_a_check_program_without_checks_has_failed(self):
        count = load().count_check
        self.assertEqual(count(b"100%: Checks: 0, Failures: 0, Errors: 0\n", 0)[:3], (0, 1, 0))
        self.assertEqual(count(b"100%: Checks: 3, Failures: 0, Errors: 0\n", 0)[:3], (3, 0, 0))
        self.assertEqual(count(b"66%: Checks: 3, Failures: 1, Errors: 0\n", 1)[:3], (2, 1, 0))
        self.assertEqual(count(b"", 0)[:3], (0, 1, 0))

    def test_what_a_check_program_says_that_it_skips_has_not_passed(self):
        said = b"skipped: other: no such thing here\n66%: Checks: 3, Failures: 1, Errors: 0\n"
        self.assertEqual(load().count_check(said, 1), (1, 1, 1, "no such thing here"))

    def test_its_end_says_again_what_failed(self):
        """A log may be kept by its end alone."""
        deep = "    def test_deep(self):\n        self.fail('much to say' + 40 * '\\n-' + '\\nat the bottom')\n"
        late = "    def test_late(self):\n        self.assertEqual(1, 2, 'was late')\n"
        with open(self.path("suite.py"), "w") as f:
            f.write(CASE % (PASSING + deep + late))
        done = self.command([sys.executable, "-B", "-m", "unittest", "-v", "suite"], cwd=self.dir)
        run_all = load()
        told = run_all.failures(done.stdout + done.stderr)
        self.assertRegex(told[0], r"^FAIL: test_deep \(suite\.Some")
        self.assertRegex(told[run_all.FAILURE_LINES], r"^FAIL: test_late \(suite\.Some")
        self.assertEqual([told[run_all.FAILURE_LINES - 1], told[-1]],
                         ["at the bottom", "AssertionError: 1 != 2 : was late"])
        self.assertEqual(run_all.failures(b"a\n50%: Checks: 2, Failures: 1, Errors: 0\nx.c:3:F:c:t:0: n == 3\n"),
                         ["x.c:3:F:c:t:0: n == 3"])
        self.assertEqual(run_all.failures(b"one\ntwo\n"), ["one", "two"], "a script, or a suite that did not begin")

    def test_suites_do_not_ignore_what_nohup_ignores(self):
        ignored = signal.SIGHUP, signal.SIGINT, signal.SIGQUIT
        suite = self.path("suite.sh")
        with open(suite, "w") as f:
            f.write("grep SigIgn /proc/self/status; false\n")
        done = self.command([sys.executable, str(ROOT / "tests/run-all"), suite],
                            preexec_fn=lambda: [signal.signal(n, signal.SIG_IGN) for n in ignored])
        mask = int(re.search(r"SigIgn:\s+([0-9a-f]+)", done.stdout.decode())[1], 16)
        self.assertEqual([n for n in ignored if mask >> n - 1 & 1], [], "a suite's own children would ignore them")

    def test_a_suite_that_hangs_says_where(self):
        p = self.hanging("import time\ndef stuck():\n    print(flush=True)\n    time.sleep(60)\nstuck()\n")
        self.until(p.stdout.fileno(), b"\n")
        self.assertTrue(load().overdue(p, 0.2, signal.SIGABRT))
        self.assertIn(b"in stuck", p.communicate()[0])
        self.assertEqual(p.returncode, -signal.SIGABRT)
        p = subprocess.Popen(["true"], start_new_session=True)
        self.assertFalse(load().overdue(p, 20))

    def test_a_suite_that_hangs_takes_along_what_it_started(self):
        for first in (signal.SIGABRT, signal.SIGTERM):
            p = self.hanging(STARTS_OTHERS)
            sessions = [int(x) for x in self.until(p.stdout.fileno(), b"\n").split()]
            for leader in sessions:
                self.addCleanup(kill_session, leader)
            self.assertTrue(load().overdue(p, 0.2, first))
            self.assertEqual(p.returncode, -first)
            self.gone([p.pid] + sessions)

    def test_a_suite_that_hears_no_signal_is_killed_all_the_same(self):
        p = self.hanging("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + STARTS_OTHERS)
        sessions = [int(x) for x in self.until(p.stdout.fileno(), b"\n").split()]
        for leader in sessions:
            self.addCleanup(kill_session, leader)
        run_all = load()
        run_all.GRACE = 0.2
        self.assertTrue(run_all.overdue(p, 0.2))
        self.assertEqual(p.wait(20), -signal.SIGKILL)
        self.gone([p.pid] + sessions)

    def test_the_longest_begin_first_and_few_scripts_run_at_a_time(self):
        run_all = load()
        self.assertEqual([s for s in run_all.LONGEST if not (ROOT / s).exists()], [])
        begun, at_once, lock = [], [0], threading.Lock()

        def run(suite):
            with lock:
                begun.append(suite)
                at_once.append(at_once[-1] + run_all.is_script(suite))
            time.sleep(0.01)
            with lock:
                at_once.append(at_once[-1] - run_all.is_script(suite))
            return suite

        run_all.run = run
        suites = ["program%d" % i for i in range(9)] + ["%d.sh" % i for i in range(9)] + list(run_all.LONGEST)
        self.assertEqual(sorted(run_all.run_all(suites, 1)), sorted(suites))
        self.assertEqual(begun, list(run_all.LONGEST) + suites[:18])
        self.assertEqual(sorted(run_all.run_all(suites, 16)), sorted(suites))
        self.assertEqual(max(at_once), run_all.MOST_SCRIPTS)
        self.assertEqual(list(run_all.run_all([], 16)), [])

    def hanging(self, script):
        p = subprocess.Popen([sys.executable, "-X", "faulthandler", "-c", script], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
        self.addCleanup(p.stdout.close)
        self.addCleanup(kill_session, p.pid)
        return p

    def gone(self, sessions):
        deadline = time.monotonic() + 20
        while any(map(session_members, sessions)) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual([session_members(leader) for leader in sessions], [[]] * len(sessions))


if __name__ == "__main__":
    unittest.main()
