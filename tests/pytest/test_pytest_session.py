"""pytest --seep: a recorded session, and what is summed up at its end."""
import glob
import os
import unittest

from tests.pytest.plugin_case import PYTHON, PluginCase, pytest_has


class Session(PluginCase):
    TESTS = """
        kept = {}

        def test_keeps():
            for i in range(100):
                kept[i] = bytearray(200_000)

        class TestClass:
            @pytest.mark.parametrize("n", [1, 2])
            def test_keeps_less(self, n):
                kept[-n] = bytearray(1_000_000)

        def test_nothing():
            bytearray(3_000_000)

        def test_fails():
            assert False
        """

    def test_a_session_is_recorded_and_summed_up(self):
        self.write("test_session.py", self.TESTS)
        self.pytest("--seep", status=1)
        self.assertEqual(self.outcome("test_fails"), "failure")
        self.assertIn("1 failed, 4 passed", self.out)
        summary = self.out[self.out.index("memory, by seep"):]
        self.assertRegex(summary, r"19\.\d MiB +test_session.py::test_keeps\n")
        self.assertRegex(summary, r"1\.9\d? MiB +test_session.py::TestClass::test_keeps_less\n")
        self.assertNotIn("test_nothing", summary)
        self.assertIn("seep view .seep/session.d", summary)
        report = self.report(self.path(".seep/session.d"))
        self.assertEqual(report["job"]["command"][0], PYTHON)
        self.assertEqual(report["processes"][0]["steps"], 5)

    def test_few_tests_are_told_what_was_seen(self):
        self.write("test_few.py", """
            kept = []

            def test_one():
                kept.append(b"x" * 3_000_000)

            def test_two():
                pass
            """)
        self.pytest("--seep", status=0)
        summary = self.out[self.out.index("memory, by seep"):]
        self.assertRegex(summary, r"2 tests: host memory was [\d.]+ MiB at most, and is [\d.]+ MiB at the end\n"
                                  r"Growth from test to test shows from \d+ tests on; ")
        self.assertRegex(summary, r"2\.8\d? MiB +test_few.py::test_one\n")
        self.assertNotIn("too early", summary)

    def test_a_limited_test_leaves_the_session_whole(self):
        self.write("test_limits.py", """
            kept = []

            @pytest.mark.seep_growth("4KiB", steps=20)
            def test_leaks():
                kept.append(bytearray(50000))
            """)
        self.pytest("--seep", status=1)
        report = self.report(self.path(".seep/session.d"))
        self.assertTrue(report["job"]["complete"], report["coverage"]["not_seen"])
        self.assertEqual([p["role"] for p in report["processes"]], ["trainer"], "seep's own commands are no part of it")
        left, = glob.glob(self.path(".seep/*/failure.txt"))
        with open(left) as f:
            words = f.read()
        self.assertTrue(words.startswith("test_limits.py::test_leaks\n"), words)
        self.assertIn("growth of host: at most 4.0 KiB a step", words)

    def test_a_test_may_remove_the_profile_that_it_is_recorded_in(self):
        self.write("test_cleans.py", """
            import shutil

            def test_cleans():
                shutil.rmtree(".seep")
            """)
        self.pytest("--seep", status=0)
        self.assertIn("no report: ", self.out)
        self.assertIn("1 passed", self.out)

    def test_who_holds_what_the_session_kept(self):
        self.write("test_holds.py", """
            kept = []

            @pytest.mark.parametrize("n", range(40))
            def test_keeps(n):
                kept.append(bytearray(500_000))
            """)
        self.pytest("--seep", status=0)
        summary = self.out[self.out.index("memory, by seep"):]
        self.assertIn("test_holds.py:6 in test_keeps", summary)
        self.assertIn("test_holds.kept", summary)

    def test_workers_of_xdist(self):
        if not pytest_has("xdist"):
            self.skipTest("%s has no pytest-xdist: ./bootstrap check installs Debian\'s" % PYTHON)
        self.write("test_session.py", self.TESTS)
        os.mkdir(self.path("elsewhere"))
        self.pytest("--seep", "-n", "2", "--rootdir", "elsewhere", status=1)
        self.assertIn("1 failed, 4 passed", self.out)
        # 19.1, and one of Python's arenas of 1 MiB more if it was this test that asked for it
        self.assertRegex(self.out, r"(19|20)\.\d MiB +(\.\./)?test_session.py::test_keeps\n")
        self.assertRegex(self.out, r"1\.9\d? MiB +(\.\./)?test_session.py::TestClass::test_keeps_less\n")


if __name__ == "__main__":
    unittest.main()
