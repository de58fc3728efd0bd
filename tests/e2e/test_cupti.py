"""Memory of devices that no table of dynamic calls shows, as a stand-in for CUPTI tells of it, against what was done."""
import unittest

from tests.e2e.support import SHIM, SOURCES, compile_c, job_env
from tests.e2e.test_counts import Counts

ASKED = ("--gpu", "cupti")


class Cupti(Counts):
    def setUp(self):
        super().setUp()
        compile_c(self, SOURCES / "lib/cupti_like.c", self.path("libcupti.so.13"), "-fPIC", "-shared",
                  "-Wl,-soname,libcupti.so.13")
        self.package = compile_c(self, SOURCES / "lib/static_runtime_like.c", self.path("package.so"), "-fPIC", "-shared",
                                 "-pthread", "-fno-optimize-sibling-calls")

    def env(self, **changes):
        return job_env(**{"LD_LIBRARY_PATH": self.dir, "CUDA_INJECTION64_PATH": None, **changes})

    def section(self, section):
        return self.check("cupti", section, self.package, options=ASKED, env=self.env())

    def said(self, env, options=ASKED, section="every"):
        report = self.profiled("cupti", section, self.package, options=options, env=env)[0].report
        return report, [s for s in report["coverage"]["not_seen"] if "cupti" in s]

    def test_each_call_is_counted_once_by_device(self):
        profile, _ = self.section("every")
        self.assertEqual(set(profile.report["spaces"]) - {"host", "mmap", "shm"}, {"device:0", "device:1", "pinned"})
        self.assertIn("InitializeInjection", profile.report["coverage"]["hooks"])
        self.assertEqual([s for s in profile.report["coverage"]["not_seen"] if "cupti" in s], [])
        self.assertEqual(self.states(profile.report), [("listens", None)])
        self.assertIn("cupti    recorded in 1 process\n", self.seep("report", profile.folder).stdout.decode())

    def states(self, report):
        pids = {p["pid"] for p in report["processes"]}
        self.assertTrue(all(its["pid"] in pids for its in report["coverage"]["runtime"]["cupti"]))
        return [(its["state"], its["error"]) for its in report["coverage"]["runtime"]["cupti"]]

    def test_what_one_runtime_made_another_one_may_free(self):
        self.section("mixed")

    def test_threads_that_get_an_address_that_was_just_freed(self):
        self.section("threads")

    def test_a_request_that_failed_is_noted(self):
        profile, _ = self.section("failed")
        refused, = profile.report["out_of_memory"]
        self.assertEqual((refused["asked_bytes"], profile.report["coverage"]["runtime"]["refused"]), (1 << 40, 1))

    def test_without_the_option_only_what_the_table_shows_is_there(self):
        report, _ = self.said(self.env(), options=())
        self.assertEqual(report["spaces"]["device:0"]["allocations"], 2)  # the dynamic runtime's
        self.assertNotIn("InitializeInjection", report["coverage"]["hooks"])
        self.assertEqual(self.states(report), [])

    def test_that_another_tool_holds_it_is_said(self):
        report, said = self.said(self.env(CUPTI_LIKE_ERROR="39"))
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], r"another tool uses CUPTI.*\(error 39\)")
        self.assertEqual(self.states(report), [("refused", 39)])
        self.assertEqual(report["spaces"]["device:0"]["allocations"], 2)

    def test_that_it_lets_nobody_in_is_said(self):
        report, (said,) = self.said(self.env(CUPTI_LIKE_ERROR="999"))
        self.assertIn("(error 999)", said)
        self.assertEqual(self.states(report), [("refused", 999)])

    def test_that_it_is_not_there_is_said(self):
        with open(self.path("empty.c"), "w") as f:
            f.write("int nothing;\n")
        compile_c(self, self.path("empty.c"), self.path("libcupti.so.13"), "-fPIC", "-shared", "-Wl,-soname,libcupti.so.13")
        report, (said,) = self.said(self.env())
        self.assertIn("no usable libcupti.so was found", said)
        self.assertEqual(self.states(report), [("absent", None)])

    def test_the_jobs_own_tool_stays_and_that_is_said(self):
        done = self.seep("run", "-q", "-o", self.fresh(), *ASKED, "--", "/bin/true",
                         env=self.env(CUDA_INJECTION64_PATH="/nowhere/libtool.so"))
        self.assertIn("CUDA_INJECTION64_PATH", self.one_line_error(done))

    def test_without_a_launcher_the_job_names_the_library(self):
        folder = self.fresh()
        env = self.env(LD_PRELOAD=SHIM, SEEP_OUT=folder, SEEP_GPU="cupti", CUDA_INJECTION64_PATH=SHIM)
        self.assertEqual(self.command([self.subject("cupti"), "every", self.package], env=env).status, 0)
        self.assertEqual(self.report(folder)["spaces"]["device:1"]["allocations"], 5)


if __name__ == "__main__":
    unittest.main()
