"""A job with a faked clock (libfaketime) runs as without seep, and its profile keeps the kernel's time."""
import json
import os
import time

from tests.e2e.support import SOURCES, SYSTEM_PYTHON, SeepCase, compile_c, job_env

HOLDERS = (("--holders", "auto"), ("--holders", "1,2"), ("--holders", "off"))
# Monotonic time is the job's own affair: it waits by counting.
JOB = "import select, time\nkept = []\nfor i in range(40):\n    kept.append(bytearray(200000)); select.select([], [], [], 0.02)\n" \
      "print(time.clock_gettime(time.CLOCK_REALTIME) > 3e9 or time.clock_gettime(time.CLOCK_REALTIME) < 10)"
SLICE_S = 0.1


class AnotherTime(SeepCase):
    def setUp(self):
        super().setUp()
        self.library = compile_c(self, SOURCES / "lib/another_time.c", self.path("time.so"), "-shared", "-fPIC")

    def hold(self, argv, env, python=SYSTEM_PYTHON):
        plain = self.command(["env", "LD_PRELOAD=" + self.library, python, "-c", JOB])
        self.assertEqual((plain.status, plain.stdout, plain.stderr), (0, b"True\n", b""))
        for options in HOLDERS:
            begin = time.monotonic()
            folder = self.fresh()
            done = self.seep("run", "-q", "-o", folder, *options, "--", *argv, env=env)
            took = time.monotonic() - begin
            self.assertEqual((done.status, done.stdout, done.stderr), (plain.status, plain.stdout, plain.stderr))
            with open(os.path.join(folder, "report.json")) as f:
                job = json.load(f)["job"]
            self.assertEqual(job["step_source"], "time")
            self.assertGreaterEqual(job["steps"], 5)
            self.assertLessEqual(job["steps"], took / SLICE_S + 2)
            self.assertLessEqual(job["duration_s"], took)
            self.assertLess(abs(job["started_unix_s"] - time.time()), took + 60)

    def test_a_job_that_is_shown_another_time(self):
        self.hold(["env", "LD_PRELOAD=" + self.library, SYSTEM_PYTHON, "-c", JOB], job_env())

    def test_seep_is_shown_it_too(self):
        self.hold([SYSTEM_PYTHON, "-c", JOB], job_env(LD_PRELOAD=self.library))
