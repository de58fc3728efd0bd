"""NVTX marks and ranges as steps, in a program that has the program's side of NVTX in it."""
import unittest

from tests.e2e.support import SHIM, SeepCase, job_env

STEPS = 20
PLAIN = job_env(NVTX_INJECTION64_PATH=None)


class Nvtx(SeepCase):
    def steps(self, section, *options, env=PLAIN):
        """Whether the program found a tool, and the job of the report."""
        profile = self.run_seep([self.subject("nvtx"), section], options=options, env=env)
        return profile.done.json()["tool"], profile.report

    def test_a_step_ends_at_a_mark_and_where_a_range_ends(self):
        for section in ("marks", "ranges", "started", "domains"):
            with self.subTest(section):
                tool, report = self.steps(section, "--step-nvtx", "step")
                self.assertEqual((tool, report["job"]["step_source"], report["job"]["steps"]), (1, "nvtx", STEPS))
                self.assertIn("InitializeInjectionNvtx2", report["coverage"]["hooks"])

    def test_of_nested_ranges_those_count_whose_message_matches(self):
        for regex, steps in (("^step$", STEPS), ("^(step|epoch)$", 2 * STEPS), ("after", STEPS), ("for{1}wa[a-r]d", STEPS)):
            with self.subTest(regex):
                _, report = self.steps("ranges", "--step-nvtx", regex)
                self.assertEqual((report["job"]["step_source"], report["job"]["steps"]), ("nvtx", steps))

    def test_what_the_job_tells_by_the_header_goes_before(self):
        _, report = self.steps("told", "--step-nvtx", "step")
        self.assertEqual((report["job"]["step_source"], report["job"]["steps"]), ("api", STEPS // 2))

    def test_without_the_option_nobody_is_there(self):
        tool, report = self.steps("marks")
        self.assertEqual((tool, report["job"]["step_source"]), (0, "time"))

    def test_that_nothing_matched_is_said(self):
        tool, report = self.steps("marks", "--step-nvtx", "iteration")
        self.assertEqual((tool, report["job"]["step_source"]), (1, "time"))
        self.assertTrue([s for s in report["coverage"]["not_seen"] if "--step-nvtx" in s], report["coverage"]["not_seen"])

    def test_the_jobs_own_tool_stays_and_that_is_said(self):
        env = dict(PLAIN, NVTX_INJECTION64_PATH="/nowhere/libtool.so")
        folder = self.fresh()
        done = self.seep("run", "-q", "-o", folder, "--step-nvtx", "step", "--", self.subject("nvtx"), "marks", env=env)
        self.assertEqual((done.status, done.json()["tool"]), (0, 0))
        self.assertIn("NVTX_INJECTION64_PATH", self.one_line_error(done))

    def test_the_variable_does_as_the_option_does(self):
        _, report = self.steps("marks", env=dict(PLAIN, SEEP_STEP_NVTX="step"))
        self.assertEqual((report["job"]["step_source"], report["job"]["steps"]), ("nvtx", STEPS))

    def test_without_a_launcher_the_job_names_the_library(self):
        folder = self.fresh()
        env = dict(PLAIN, LD_PRELOAD=SHIM, SEEP_OUT=folder, SEEP_STEP_NVTX="step", NVTX_INJECTION64_PATH=SHIM)
        done = self.command([self.subject("nvtx"), "marks"], env=env)
        self.assertEqual((done.status, done.json()["tool"]), (0, 1))
        self.assertEqual(self.report(folder)["job"]["steps"], STEPS)

    def test_a_wrong_expression_is_told_before_the_job_runs(self):
        for regex in ("step_\\d+", "(a", "", "*"):
            with self.subTest(regex):
                done = self.seep("run", "--step-nvtx", regex, "--", "/bin/false")
                self.assertEqual(done.status, 125, repr(done))
                self.assertIn("--step-nvtx", self.one_line_error(done))


if __name__ == "__main__":
    unittest.main()
