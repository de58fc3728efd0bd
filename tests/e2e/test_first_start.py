"""A job whose first program crashes in the start of seep's library runs again without seep, once; no other job does.
A filter of the kernel ends each process that makes the library's first system call that no program makes itself."""
import os
import pathlib
import signal
import unittest

from tests.e2e.support import SEEP, SYSTEM_PYTHON, SeepCase, compile_c, job_env

# madvise(, , MADV_WIPEONFORK) ends the process.
CRASH_IN_START = [(0x20, 0, 0, 0), (0x15, 0, 3, 28), (0x20, 0, 0, 32), (0x15, 0, 1, 18), (0x06, 0, 0, 0x80000000)]
# Tells what of seep a job can see.
TELLS = """
import os, signal, sys
print(sys.stdin.read(), sorted(k for k in os.environ if k.startswith("SEEP_") or k in ("LD_PRELOAD", "PYTHONPATH")),
      [s for s in signal.valid_signals() if signal.getsignal(s) == signal.SIG_IGN], signal.pthread_sigmask(0, []))
open("runs", "a").write("x")
sys.exit(7)
"""
CRASHES = "int main(void) { __builtin_trap(); }"
LIBRARY_CRASHES = """
#include <stdlib.h>
__attribute__((constructor)) static void construct(void) { abort(); }
int first(void) { return 0; }
"""
FIRST = "int first(void) { return 0; }"
CALLS_FIRST = "int first(void); int main(void) { return first(); }"
AGAIN = "the job now runs without seep"


class FirstStart(SeepCase):
    def filtered(self, *command, **options):
        return self.command_filtered(CRASH_IN_START, command, cwd=self.dir, **options)

    def built(self, name, source, *options):
        pathlib.Path(self.path(name + ".c")).write_text(source)
        return compile_c(self, self.path(name + ".c"), self.path(name), *options)

    def test_a_job_that_cannot_begin_under_seep_runs_once_as_without_it(self):
        job = [SYSTEM_PYTHON, "-c", TELLS]
        plain = self.filtered(*job, stdin=b"whole")
        done = self.filtered(SEEP, "run", "-o", "out/of/it.d", "--", *job, stdin=b"whole")
        self.assertEqual((plain.status, plain.stderr), (7, b""))
        self.assertEqual((done.status, done.stdout), (7, plain.stdout))
        self.assertEqual(pathlib.Path(self.path("runs")).read_text(), "xx")
        self.assertEqual(done.err.count("crashed in the start of seep's library (signal 31)"), 1, repr(done))
        self.assertEqual(done.err.count(AGAIN), 1, repr(done))
        self.assertFalse(os.path.exists(self.path("out")), "a folder is left of which nothing was recorded")

    def test_the_doctor_says_what_that_means(self):
        done = self.filtered(SEEP, "doctor")
        self.assertEqual(done.status, 1)
        self.assertRegex(done.stdout.decode(), r"libseep.so +MISSING .* crashed \(signal 31\) on Linux .*: "
                                               r"`seep run` runs jobs without seep here")

    def test_a_job_that_crashes_by_itself_is_not_run_again(self):
        library = self.built("crashing.so", LIBRARY_CRASHES, "-shared", "-fPIC")
        main = [self.built("main", CRASHES)]
        constructor = [self.built("program", CALLS_FIRST, library)]
        second = ["sh", "-c", "echo x >> runs; exec " + main[0]]
        for job, number in ((main, signal.SIGILL), (constructor, signal.SIGABRT), (second, signal.SIGILL)):
            with self.subTest(job):
                folder = self.fresh()
                done = self.command([SEEP, "run", "-q", "-o", folder, "--", *job], cwd=self.dir)
                self.assertEqual(done.status, 128 + number, repr(done))
                self.assertNotIn(AGAIN, done.err)
                self.assertTrue(os.path.exists(os.path.join(folder, "report.json")))
        self.assertEqual(pathlib.Path(self.path("runs")).read_text(), "x\n")

    def test_where_another_library_comes_first_nothing_runs_twice(self):
        library = self.built("first.so", FIRST, "-shared", "-fPIC", "-Wl,-z,initfirst")
        program = self.built("program", CALLS_FIRST, library)
        done = self.filtered(SEEP, "run", "-q", "-o", self.fresh(), "--", program)
        self.assertEqual(done.status, 128 + signal.SIGSYS, repr(done))
        self.assertNotIn(AGAIN, done.err)

    def test_nothing_of_it_is_seen_once_the_job_runs(self):
        done = self.command([SEEP, "run", "-q", "-o", self.fresh(), "--", SYSTEM_PYTHON, "-c",
                             "import os; print(sorted(os.listdir(os.environ['SEEP_OUT'])))"])
        self.assertIn(b"job.seepjob", done.stdout)
        self.assertNotIn(b"starting", done.stdout)


if __name__ == "__main__":
    unittest.main()
