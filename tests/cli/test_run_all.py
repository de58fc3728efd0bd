"""tests/run-all counts what ran: a suite in which nothing ran has failed."""
import importlib.machinery
import importlib.util
import subprocess
import sys
import unittest

from tests.e2e.support import ROOT, SeepCase

CASE = "import unittest\nclass Some(unittest.TestCase):\n%s"
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

    def test_a_suite_that_hangs_says_where(self):
        script = "import time\ndef stuck():\n    time.sleep(60)\nstuck()\n"
        p = subprocess.Popen([sys.executable, "-X", "faulthandler", "-c", script], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
        self.assertTrue(load().overdue(p, 1))
        self.assertIn(b"in stuck", p.communicate()[0])
        self.assertNotEqual(p.returncode, 0)
        p = subprocess.Popen(["true"], start_new_session=True)
        self.assertFalse(load().overdue(p, 20))


if __name__ == "__main__":
    unittest.main()
