"""Exit statuses of `seep run`: the job's own, and those for programs that cannot be run or are refused, with the
message."""
import os
import unittest

from tests.e2e.alike import Alike
from tests.e2e.support import SHIM, compile_c, end_of, functions, job_env, needs, needs_others_to_reach_the_build


class Statuses(Alike):
    def test_exit_status_passes_through(self):
        for status in (0, 1, 2, 42, 124, 125, 126, 127, 128, 137, 255):
            self.alike(["sh", "-c", "exit %d" % status])

    def test_killed_by_a_signal_is_128_plus_n(self):
        for number in (1, 2, 3, 6, 9, 11, 13, 14, 15, 24, 25):
            profile = self.run_seep(["sh", "-c", "kill -%d $$" % number], status=128 + number)
            self.assertIn(("signal", number), [end_of(p) for p in profile.report["processes"]])

    def test_missing_command_is_127(self):
        done = self.seep("run", "-q", "-o", self.fresh(), "--", "/nonexistent/program")
        self.assertEqual(done.status, 127)
        self.assertIn("/nonexistent/program", self.one_line_error(done))
        done = self.seep("run", "-q", "-o", self.fresh(), "--", "no-such-command-anywhere")
        self.assertEqual(done.status, 127)
        self.one_line_error(done)

    def test_not_executable_is_126(self):
        for path in ("/etc/passwd", "/"):
            done = self.seep("run", "-q", "-o", self.fresh(), "--", path)
            self.assertEqual(done.status, 126, repr(done))
            self.one_line_error(done)

    def test_a_failed_start_leaves_no_folder_behind(self):
        folder = self.fresh()
        self.seep("run", "-q", "-o", folder, "--", "/nonexistent/program")
        self.assertFalse(os.path.exists(folder))

    def test_wrong_usage_is_125_with_one_line(self):
        for args in (("run",), ("run", "-q"), ("run", "--no-such-option", "--", "true"), ("run", "-o"),
                     ("run", "-o", self.fresh(), "--"), ("run", "--sample", "many", "--", "true"),
                     ("run", "--max-profile", "-5", "--", "true")):
            done = self.seep(*args, cwd=self.dir)
            self.assertEqual(done.status, 125, "%s %r" % (args, done))
            self.one_line_error(done)

    def is_run_without_a_record(self, done, reason):
        self.assertEqual((done.status, done.stdout), (3, b"ran, and not recorded\n"), repr(done))
        first, last = done.err.splitlines()
        self.assertRegex(first, "^seep: .*%s.*; the job runs without seep: choose another folder" % reason)
        self.assertEqual(last, "seep: nothing was recorded of this job: seep said why before it began")

    JOB = ("sh", "-c", "echo ran, and ${SEEP_OUT:-not} recorded; exit 3")

    def test_a_folder_that_cannot_be_written_costs_the_record_and_not_the_job(self):
        with open(self.path("file"), "w"):
            pass
        for folder in ("/proc/seep.d", "/dev/null/x.d", self.path("file"), self.path("file", "x.d")):
            with self.subTest(folder):
                self.is_run_without_a_record(self.seep("run", "-q", "-o", folder, "--", *self.JOB), "cannot be (created|opened)")
        done = self.seep("run", "-q", "-o", "/proc/seep.d", "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(done.status, 128 + 9)

    def test_the_folders_above_it_are_made(self):
        done = self.seep("run", "-q", "-o", self.path("runs/today/x.d"), "--", "true")
        self.assertEqual((done.status, done.stderr), (0, b""), repr(done))
        self.report(self.path("runs/today/x.d"))
        self.seep("run", "-q", "-o", self.path("more/x.d"), "--", "/nonexistent/program")
        self.assertFalse(os.path.exists(self.path("more")))

    @needs_others_to_reach_the_build
    def test_a_folder_without_write_permission_costs_the_record(self):
        folder = self.path("closed")
        os.mkdir(folder, 0o555)
        os.chmod(self.dir, 0o755)

        def drop():
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
        done = self.seep("run", "-q", "-o", os.path.join(folder, "x.d"), "--", *self.JOB, preexec_fn=drop)
        self.is_run_without_a_record(done, "Permission denied")

    def test_a_folder_that_exists(self):
        empty = self.path("empty.d")
        os.mkdir(empty)
        profile = self.run_seep([self.subject("counts_heap"), "malloc"], folder=empty)
        first = profile.report["job"]["started_unix_s"]
        # A second one has a folder of its own beside it, which is said at the end.
        done = self.seep("run", "-q", "-o", empty, "--", self.subject("counts_heap"), "calloc")
        self.assertEqual(done.status, 0, repr(done))
        beside = self.path("empty.2.d")
        self.assertEqual(self.one_line_error(done).strip(),
                         "seep: %s already held a profile: that of this job is in %s" % (empty, beside))
        for folder, function in ((empty, "malloc"), (beside, "calloc")):
            report = self.report(folder, "--all")
            self.assertEqual({n for s in report["sites"] for f in functions(s) for n in ("malloc", "calloc")
                              if f == "subject_" + n}, {function})
            self.assertEqual(report["job"]["started_unix_s"] == first, folder == empty)

    def test_a_folder_with_other_files_is_left_alone(self):
        folder = self.path("work")
        os.mkdir(folder)
        with open(os.path.join(folder, "thesis.txt"), "w") as f:
            f.write("precious")
        done = self.seep("run", "-q", "-o", folder, "--", "true")
        self.assertIn(done.status, (0, 125), repr(done))
        with open(os.path.join(folder, "thesis.txt")) as f:
            self.assertEqual(f.read(), "precious")

    def test_default_folder_is_named_after_the_command(self):
        done = self.seep("run", "-q", "--", "sh", "-c", "exit 0", cwd=self.dir)
        self.assertEqual(done.status, 0, repr(done))
        made = [n for n in os.listdir(self.dir) if n.startswith("seep.sh.") and n.endswith(".d")]
        self.assertEqual(len(made), 1, os.listdir(self.dir))

    def test_summary_goes_to_stderr_only_and_quiet_is_quiet(self):
        for options, quiet in (((), False), (("-q",), True)):
            done = self.seep("run", *options, "-o", self.fresh(), "--", "echo", "hello")
            self.assertEqual((done.status, done.stdout), (0, b"hello\n"))
            self.assertEqual(done.stderr == b"", quiet, repr(done))
            self.assertNotIn("\033", done.err, "colour without a terminal")

    def test_options_after_the_command_are_the_commands(self):
        self.assertEqual(self.run_seep(["echo", "-q", "--help", "-o", "x"]).done.stdout, b"-q --help -o x\n")


class Refused(Alike):
    """What a preload cannot reach is refused with a word."""

    def refused(self, program, word):
        done = self.seep("run", "-q", "-o", self.fresh(), "--", program)
        self.assertEqual(done.status, 125, repr(done))
        self.assertEqual(done.stdout, b"", "it did run")
        self.assertIn(word, self.one_line_error(done).lower())

    def source(self):
        path = self.path("hello.c")
        with open(path, "w") as f:
            f.write('#include <unistd.h>\nint main(void) { return write(1, "ran\\n", 4) != 4; }\n')
        return path

    def test_static_program(self):
        done = self.command(["cc", "-static", "-o", self.path("static"), self.source()])
        if done.status != 0:
            self.skipTest("no static libc here")
        self.refused(self.path("static"), "static")
        done = self.command(["cc", "-static-pie", "-o", self.path("static-pie"), self.source()])
        if done.status == 0:
            self.refused(self.path("static-pie"), "static")

    @needs(os.geteuid() == 0, "needs root")
    def test_setuid_program(self):
        os.chmod(self.dir, 0o755)
        program = compile_c(self, self.source(), self.path("setuid"))
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        if self.command(["findmnt", "-n", "-o", "OPTIONS", "-T", self.dir]).stdout.find(b"nosuid") >= 0:
            self.skipTest("nosuid file system")
        self.refused(program, "setuid")

    def test_a_static_program_started_by_the_job_does_not_disturb_it(self):
        done = self.command(["cc", "-static", "-o", self.path("static"), self.source()])
        if done.status != 0:
            self.skipTest("no static libc here")
        done = self.run_seep(["sh", "-c", self.path("static") + "; echo after"]).done
        self.assertEqual(done.stdout, b"ran\nafter\n")

    def test_a_file_that_is_no_program(self):
        path = self.path("rubbish")
        with open(path, "wb") as f:
            f.write(b"\x7fELF" + os.urandom(500))
        os.chmod(path, 0o755)
        done = self.seep("run", "-q", "-o", self.fresh(), "--", path)
        self.assertIn(done.status, (125, 126), repr(done))
        self.one_line_error(done)

    def test_scripts_run(self):
        path = self.path("script")
        with open(path, "w") as f:
            f.write("#!/bin/sh\necho script $1\nexit 4\n")
        os.chmod(path, 0o755)
        self.alike([path, "x"])


class WithoutLauncher(Alike):
    def test_a_preload_without_an_output_folder_leaves_the_job_alone(self):
        done = self.command(["sh", "-c", "echo hello; exit 3"], env=job_env(LD_PRELOAD=SHIM), cwd=self.dir)
        self.assertEqual((done.status, done.stdout), (3, b"hello\n"), repr(done))

    def test_an_output_folder_that_cannot_be_made_leaves_the_job_alone(self):
        for folder in ("/proc/nope", "/dev/null/x", "", "x" * 5000):
            done = self.command(["sh", "-c", "echo hello; exit 3"], env=job_env(LD_PRELOAD=SHIM, SEEP_OUT=folder),
                                cwd=self.dir)
            self.assertEqual((done.status, done.stdout), (3, b"hello\n"), repr(done))
            self.assertLessEqual(len(done.err.splitlines()), 1, repr(done))

    def test_rubbish_in_the_variables_leaves_the_job_alone(self):
        folder = self.fresh()
        for name in ("SEEP_SAMPLE", "SEEP_MAX_PROFILE", "SEEP_JOB", "SEEP_PARENT"):
            for value in ("", "x", "-1", "99999999999999999999", "\xff\xfe", "1" * 4000):
                done = self.command(["sh", "-c", "echo hello; exit 3"],
                                    env=job_env(LD_PRELOAD=SHIM, SEEP_OUT=folder, **{name: value}))
                self.assertEqual((done.status, done.stdout), (3, b"hello\n"), "%s=%r %r" % (name, value, done))


if __name__ == "__main__":
    unittest.main()
