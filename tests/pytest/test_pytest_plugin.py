"""The pytest plugin: what a marked and an unmarked test show."""
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from tests.e2e.support import MODULES, SEEP, job_env
from tests.pytest.plugin_case import PYTHON, PluginCase, pytest_has


class Growth(PluginCase):
    def test_a_leak_fails_with_the_line_who_holds_it_and_what_to_do(self):
        self.write("test_growth.py", """
            kept = []

            @pytest.mark.seep_growth("4KiB")
            def test_leaks():
                kept.append(bytearray(50000))

            @pytest.mark.seep_growth("4KiB", steps=30)
            def test_stays():
                kept[:] = [bytearray(50000)]

            @pytest.mark.seep_growth("64KiB")
            def test_within_its_limit():
                kept.append(bytearray(50000))
            """)
        self.pytest("--strict-markers", status=1)
        self.assertEqual({n: self.outcome(n) for n in self.results},
                         {"test_leaks": "failure", "test_stays": "passed", "test_within_its_limit": "passed"})
        self.assertRegex(self.out, r"FAILED test_growth\.py::test_leaks - grows 48\.9 KiB a step \(limit 4 KiB\)")
        said = self.text("test_leaks")
        for part in ("growth of host: at most 4.0 KiB a step", "48.9 KiB a step", "60 steps",
                     "test_growth.py:6 in test_leaks", "held by", "test_growth.kept", "to do:", "seep view .seep/"):
            self.assertIn(part, said)
        profile = re.search(r"seep view (\S+)", said).group(1)
        self.assertTrue(os.path.isdir(self.path(profile)), profile)

    def test_its_time_is_that_of_its_process(self):
        self.write("test_time.py", """
            import os, time
            if "SEEP_OUT" in os.environ:
                time.sleep(1)  # as what a test imports

            @pytest.mark.seep_growth("4KiB", steps=20)
            def test_flat():
                pass
            """)
        self.pytest("--durations=1", status=0)
        self.assertGreater(float(self.out.rpartition("s call ")[0].split()[-1]), 1)

    def test_small_objects_count_to_the_byte(self):
        """pymalloc takes arenas of 256 KiB or a megabyte; 8 KiB a step would fill none in some runs."""
        self.write("test_small.py", """
            kept = []

            @pytest.mark.seep_growth("4KiB", steps=40)
            def test_floats():
                kept.extend(float(i) for i in range(256))

            @pytest.mark.seep_growth("4KiB", steps=40)
            def test_cycles():
                for _ in range(100):
                    cycle = []
                    cycle.append(cycle)
            """)
        self.pytest(status=1)
        self.assertEqual(self.outcome("test_floats"), "failure")
        self.assertIn("test_small.py:6", self.text("test_floats"))
        self.assertEqual(self.outcome("test_cycles"), "passed", self.out)

    def test_an_option_limits_tests_without_a_mark(self):
        self.write("test_all.py", """
            kept = []

            def test_unmarked():
                kept.append(bytearray(50000))

            @pytest.mark.seep_growth("1MiB")
            def test_marked():
                kept.append(bytearray(50000))
            """)
        self.pytest("--seep-growth", "4KiB", "--seep-steps", "25", status=1)
        self.assertEqual(self.outcome("test_unmarked"), "failure")
        self.assertIn("25 steps", self.text("test_unmarked"))
        self.assertEqual(self.outcome("test_marked"), "passed", self.out)
        self.pytest(status=0)

    def test_what_cannot_be_judged_fails_and_says_why(self):
        self.write("test_bad.py", """
            @pytest.mark.seep_growth("4 bananas")
            def test_size():
                pass

            @pytest.mark.seep_growth("4KiB", step=3)
            def test_argument():
                pass

            @pytest.mark.seep_growth("4KiB", steps=4)
            def test_short():
                pass
            """)
        self.pytest(status=1)
        self.assertNotEqual(self.outcome("test_size"), "passed")
        self.assertIn("4 bananas", self.text("test_size"))
        self.assertNotIn("Repeat it", self.text("test_size"))
        self.assertIn("Repeat it more often: steps=200", self.text("test_short"))
        self.assertNotEqual(self.outcome("test_argument"), "passed")
        self.assertIn("step", self.text("test_argument"))


class Peak(PluginCase):
    def test_a_peak_is_the_test_s_own(self):
        self.write("test_peak.py", """
            kept = bytearray(100_000_000)  # of the module, in every process that imports it

            @pytest.mark.seep_peak("250MB")
            def test_small():
                assert len(bytearray(50_000_000))

            @pytest.mark.seep_peak("250MB")
            def test_large():
                assert len(bytearray(200_000_000))
            """)
        self.pytest(status=1)
        self.assertEqual(self.outcome("test_small"), "passed", self.out)
        self.assertEqual(self.outcome("test_large"), "failure")
        self.assertIn("peak of host: at most 238 MiB", self.text("test_large"))
        self.assertIn("test_peak.py:10 in test_large", self.text("test_large"))


class Limits(PluginCase):
    def test_the_closest_limit_counts(self):
        self.write("test_closest.py", """
            kept = []

            @pytest.mark.seep_growth("1MiB", steps=20)
            class TestClass:
                def test_of_class(self):
                    kept.append(bytearray(50000))

                @pytest.mark.seep_growth("4KiB", steps=20)
                def test_of_its_own(self):
                    kept.append(bytearray(50000))

                @pytest.mark.seep_growth("4KiB", steps=20)
                @pytest.mark.parametrize("size", [
                    10, pytest.param(50000, marks=pytest.mark.seep_growth("64KiB", steps=20)), 60000])
                def test_of_a_parameter(self, size):
                    kept.append(bytearray(size))
            """)
        self.pytest("--seep-growth", "1KiB", status=1)
        self.assertEqual({n: self.outcome(n) for n in self.results},
                         {"test_of_class": "passed", "test_of_its_own": "failure", "test_of_a_parameter[10]": "passed",
                          "test_of_a_parameter[50000]": "passed", "test_of_a_parameter[60000]": "failure"}, self.out)


class AsUsual(PluginCase):
    """Fixtures, parameters, classes, failures and skips of marked tests, as users of pytest expect them."""

    def test_fixtures_and_parameters(self):
        self.write("conftest.py", """
            @pytest.fixture(scope="module")
            def size():
                yield 1000

            @pytest.fixture
            def folder(tmp_path):
                assert tmp_path.is_dir()
                return tmp_path
            """)
        self.write("test_fixtures.py", """
            kept = []

            @pytest.mark.seep_growth("4KiB", steps=20)
            @pytest.mark.parametrize("times", [0, 100])
            def test_with(size, folder, times, request):
                assert size == 1000 and folder.is_dir() and request.node.name == "test_with[%d]" % times
                kept.append(bytearray(size * times))

            @pytest.mark.seep_growth("4KiB", steps=20)
            class TestClass:
                @pytest.fixture(autouse=True)
                def before(self):
                    self.kept = []

                def test_of_class(self):
                    self.kept.append(bytearray(20_000))

            def test_after(size):
                assert size == 1000 and not kept
            """)
        self.pytest(status=1)
        self.assertEqual({n: self.outcome(n) for n in self.results},
                         {"test_with[0]": "passed", "test_with[100]": "failure", "test_of_class": "failure",
                          "test_after": "passed"})
        self.assertIn("test_fixtures.py:8 in test_with", self.text("test_with[100]"))

    def test_failures_are_pytest_s_own(self):
        self.write("test_fails.py", """
            calls = []

            @pytest.mark.seep_growth("4KiB", steps=20)
            def test_asserts():
                print("printed before it failed")
                calls.append(1)
                assert len(calls) < 3

            @pytest.fixture
            def broken():
                raise RuntimeError("no such camera")

            @pytest.mark.seep_growth("4KiB", steps=20)
            def test_setup(broken):
                pass

            @pytest.mark.seep_growth("4KiB", steps=20)
            def test_dies():
                import os, sys
                print("last words", flush=True)
                os._exit(7)
            """)
        self.pytest(status=1)
        said = self.text("test_asserts")
        self.assertIn("assert 3 < 3", said)
        self.assertIn("calls.append(1)", said, "the failure has no source lines")
        self.assertIn("printed before it failed", self.out)
        self.assertIn("in step 3 of 20", self.out)
        self.assertEqual(self.outcome("test_setup"), "error")
        self.assertIn("no such camera", self.text("test_setup"))
        self.assertEqual(self.outcome("test_dies"), "failure")
        self.assertIn("ended early, with status 7", self.text("test_dies"))

    def test_skips_and_expected_failures(self):
        self.write("test_skips.py", """
            kept = []

            @pytest.mark.seep_growth("4KiB", steps=20)
            @pytest.mark.skip(reason="not today")
            def test_skipped():
                assert False

            @pytest.mark.seep_growth("4KiB", steps=20)
            def test_skips_itself():
                pytest.skip("not here")

            @pytest.mark.seep_growth("4KiB", steps=20)
            @pytest.mark.xfail(reason="leaks, issue 12")
            def test_known_leak():
                kept.append(bytearray(50000))

            @pytest.mark.seep_growth("4KiB", steps=20)
            @pytest.mark.xfail(reason="was mended", strict=True)
            def test_mended():
                pass
            """)
        self.pytest("-rA", status=1)
        self.assertIn("XFAIL test_skips.py::test_known_leak", self.out)
        self.assertRegex(self.out, r"SKIPPED \[1\] test_skips.py(:\d+)?: not today")
        self.assertRegex(self.out, r"SKIPPED \[1\] test_skips.py(:\d+)?: not here")
        self.assertIn("FAILED test_skips.py::test_mended", self.out)
        self.assertIn("2 skipped, 1 xfailed", self.out)

    def test_unittest_s_tests(self):
        self.write("test_unit.py", """
            import unittest
            kept, calls = [], []

            @pytest.mark.seep_growth("4KiB", steps=20)
            class Cases(unittest.TestCase):
                def setUp(self):
                    self.block = bytearray(50000)

                def test_keeps(self):
                    kept.append(self.block)

                def test_does_not(self):
                    self.assertEqual(len(self.block), 50000)

                def test_fails(self):
                    calls.append(1)
                    self.assertLess(len(calls), 3)
            """)
        self.pytest(status=1)
        self.assertEqual({n: self.outcome(n) for n in self.results},
                         {"test_keeps": "failure", "test_does_not": "passed", "test_fails": "failure"})
        self.assertIn("growth of host", self.text("test_keeps"))
        self.assertIn("3 not less than 3", self.text("test_fails"))

    def test_coroutines(self):
        if not pytest_has("pytest_asyncio"):
            self.skipTest("%s has no pytest-asyncio: ./bootstrap check installs Debian\'s" % PYTHON)
        self.write("test_async.py", """
            import asyncio
            kept = []

            @pytest.mark.asyncio
            @pytest.mark.seep_growth("4KiB", steps=20)
            async def test_keeps():
                await asyncio.sleep(0)
                kept.append(bytearray(50000))

            @pytest.mark.asyncio
            @pytest.mark.seep_growth("4KiB", steps=20)
            async def test_does_not():
                await asyncio.sleep(0)
            """)
        self.pytest(status=1)
        self.assertEqual(self.outcome("test_keeps"), "failure", self.out)
        self.assertIn("test_async.py:9", self.text("test_keeps"))
        self.assertEqual(self.outcome("test_does_not"), "passed", self.out)

    def test_workers_of_xdist(self):
        if not pytest_has("xdist"):
            self.skipTest("%s has no pytest-xdist: ./bootstrap check installs Debian\'s" % PYTHON)
        self.write("test_spread.py", """
            kept = []

            @pytest.mark.seep_growth("4KiB", steps=20)
            @pytest.mark.parametrize("n", range(4))
            def test_many(n, worker_id):
                assert worker_id.startswith("gw")
                kept.append(bytearray(50000 * (n % 2)))
            """)
        self.pytest("-n", "2", status=1)
        self.assertEqual([self.outcome("test_many[%d]" % n) for n in range(4)],
                         ["passed", "failure", "passed", "failure"], self.out)
        self.assertIn("growth of host", self.text("test_many[1]"))

    def test_nothing_runs_on_when_pytest_is_ended(self):
        self.write("test_long.py", """
            import os, time

            @pytest.mark.seep_growth("4KiB", steps=20)
            def test_sleeps():
                with open("pid.new", "w") as f:
                    f.write(str(os.getpid()))
                os.rename("pid.new", "pid")
                time.sleep(300)
            """)
        child = subprocess.Popen([PYTHON, "-m", "pytest", "-p", "seep.pytest_plugin"], cwd=self.dir,
                                 env=job_env(PYTHONPATH=MODULES), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(child.kill)
        end = time.monotonic() + 120
        while not os.path.exists(self.path("pid")) and time.monotonic() < end:
            time.sleep(0.05)
        with open(self.path("pid")) as f:
            pid = int(f.read())
        child.terminate()
        self.assertEqual(child.wait(120), -signal.SIGTERM)
        self.assertFalse(os.path.exists("/proc/%d" % pid))

    def test_chosen_tests_in_a_subfolder(self):
        self.write("sub/test_chosen.py", """
            kept = []

            @pytest.mark.seep_growth("4KiB", steps=20)
            def test_one():
                kept.append(bytearray(50000))

            @pytest.mark.seep_growth("4KiB", steps=20)
            def test_other():
                assert False, "nobody asked for it"
            """)
        self.pytest("sub/test_chosen.py", "-k", "one", status=1)
        self.assertEqual(list(self.results), ["test_one"])
        self.assertIn("test_chosen.py:6", self.text("test_one"))


class Unmarked(PluginCase):
    def test_nothing_is_changed_or_loaded(self):
        self.write("test_plain.py", """
            import os, sys

            def test_alone():
                assert "seep.pytest_limits" not in sys.modules and "seep.pytest_session" not in sys.modules
                assert "libseep" not in open("/proc/self/maps").read()
            """)
        self.pytest(status=0)
        self.assertFalse(os.path.exists(self.path(".seep")))

    def test_nothing_is_left_beside_the_installed_package(self):
        """pip removes what it knows of; pytest's own copies of compiled modules are not among that."""
        package, info = self.path("site/seep"), self.path("site/seep_profiler-0.dist-info")
        shutil.copytree(os.path.join(MODULES, "seep"), package, ignore=shutil.ignore_patterns("__pycache__"))
        os.makedirs(info)
        for name, text in (("METADATA", "Metadata-Version: 2.1\nName: seep-profiler\nVersion: 0\n"),
                           ("entry_points.txt", "[pytest11]\nseep = seep.pytest_plugin\n"),
                           ("RECORD", "".join("seep/%s,,\n" % name for name in os.listdir(package)))):
            with open(os.path.join(info, name), "w") as f:
                f.write(text)
        self.write("test_growth.py", """
            @pytest.mark.seep_peak("2GiB")
            def test_small():
                import seep
            """)
        env = job_env(PYTHONPATH=self.path("site"), PATH=os.path.dirname(SEEP) + os.pathsep + os.environ["PATH"],
                      PYTHONDONTWRITEBYTECODE=None, PYTHONPYCACHEPREFIX=None)
        done = self.command([PYTHON, "-m", "pytest", "test_growth.py"], env=env, cwd=self.dir, timeout=300)
        self.assertIn(b"1 passed", done.stdout, repr(done))
        self.assertTrue(os.path.isdir(self.path(".seep")), repr(done))
        left = os.listdir(os.path.join(package, "__pycache__"))
        self.assertEqual([name for name in left if "-pytest-" in name], [])

    def test_a_folder_that_was_there_keeps_its_gitignore(self):
        with open(self.path(".gitignore"), "w") as f:
            f.write("*.log\n")
        self.write("test_small.py", """
            @pytest.mark.seep_peak("2GiB")
            def test_small():
                pass
            """)
        self.pytest("--seep-dir", ".", status=0)
        self.pytest("--seep-dir", "fresh", status=0)
        for folder, words in ((".", "*.log\n"), ("fresh", "*\n")):
            with open(self.path(folder, ".gitignore")) as f:
                self.assertEqual(f.read(), words)

    def test_nothing_runs_when_tests_are_only_listed(self):
        self.write("test_listed.py", """
            @pytest.mark.seep_growth("4KiB")
            def test_not_run():
                open("ran", "w")
            """)
        self.pytest("--collect-only", "--seep", status=0)
        self.assertFalse(os.path.exists(self.path("ran")) or os.path.exists(self.path(".seep")))
        self.pytest("--markers", status=0)
        self.assertIn("@pytest.mark.seep_growth(size, steps=60, space='host')", self.out)

    def test_a_debugger_gets_the_test_itself(self):
        self.write("test_debugged.py", """
            import os

            @pytest.mark.seep_growth("4KiB")
            def test_here():
                assert os.getppid() == int(os.environ["STARTED_BY"])
            """)
        self.pytest("--pdb", status=0, STARTED_BY=str(os.getpid()))


if __name__ == "__main__":
    unittest.main()
