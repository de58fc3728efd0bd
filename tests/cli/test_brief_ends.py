"""What `seep run` says of a job that leaves the question open: how it ended, what grows by how much, what to do."""
import os
import resource
import signal
import sys
import unittest

from tests.e2e.support import SeepCase, job_env

JOB = '''"""usage: job.py STEPS BYTES [SIGNAL]"""
import math, os, sys, time
import seep
steps, size = int(sys.argv[1]), int(sys.argv[2])
kept = {}


def step(i):
    if KEY not in kept:
        kept[KEY] = b"x" * size
    sum(range(2000))
    time.sleep(0.003)


for i in range(steps):
    step(i)
    seep.step()
if len(sys.argv) > 3:
    os.kill(os.getpid(), int(sys.argv[3]))
'''
MOST_LINES = 8
ADDRESS_SPACE = 1 << 30


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


class BriefEnds(SeepCase):
    def ended(self, *args, key="i", check=None, **options):
        """What `seep run` says of this job, as lines; `check` is the status of the gate."""
        script, folder = self.path("job.py"), self.fresh()
        with open(script, "w") as f:
            f.write(JOB.replace("KEY", key))
        done = self.seep("run", "-o", folder, "--", sys.executable, script, *args, cwd=self.dir, env=job_env(COLUMNS="96"),
                         **options)
        said = done.err[done.err.rindex("\nseep: ") + 1:].splitlines()
        self.assertLessEqual(len(said), MOST_LINES, repr(done))
        self.assertTrue(said[-1].startswith("details  seep report " + folder), repr(done))
        self.assertEqual(self.seep("check", folder).status, check)
        self.assertGreater(len(self.seep("report", folder).stdout.decode().splitlines()), MOST_LINES)
        return said

    def test_killed(self):
        said = self.ended(300, 200000, int(signal.SIGKILL), check=1)
        self.assertRegex(said[0], r"^seep: the job failed \(killed by SIGKILL\) after \d+ steps; 1 finding$")
        self.assertRegex(said[1], r"^F1 +leak +unbounded-growth +\+19\d KiB/step +job\.py:10 in step$")
        self.assertIn("to do: Bound ", said[2])

    def test_killed_without_a_leak(self):
        said = self.ended(300, 200000, int(signal.SIGKILL), key="i % 4", check=2)
        self.assertRegex(said[0], r"^seep: the job failed \(killed by SIGKILL\) after \d+ steps; no finding in them$")
        self.assertRegex(said[1], r"^largest +\S+ [KM]iB  \S+")

    def test_terminated(self):
        said = self.ended(300, 200000, int(signal.SIGTERM), check=1)
        self.assertRegex(said[0], r"^seep: 1 finding in \d+ steps \(killed by SIGTERM\)$")
        self.assertRegex(said[1], r"^F1 +leak +unbounded-growth .* job\.py:10 in step$")

    def test_terminated_without_a_leak(self):
        """Nothing is wrong with what it had."""
        said = self.ended(300, 200000, int(signal.SIGTERM), key="i % 4", check=0)
        self.assertRegex(said[0], r"^seep: no finding in \d+ steps \(killed by SIGTERM\)$")

    def test_out_of_memory(self):
        said = self.ended(4000, 2000000, check=1, preexec_fn=limited)
        self.assertRegex(said[0], r"^seep: the job failed \(ended with status 1\) after \d+ steps; 2 findings$")
        self.assertRegex(said[1], r"^Out of host memory: 1\.9 MiB requested .*job\.py:10 in step$")
        self.assertTrue(any("out-of-memory" in line for line in said), said)
        self.assertTrue(any("to do: Bound " in line for line in said), said)

    def test_too_short(self):
        said = self.ended(12, 2000, check=2)
        self.assertRegex(said[0], r"^seep: too short to tell in \d+ ")
        self.assertTrue(any(line.startswith("to do    Run it ") for line in said), said)

    def test_undetermined(self):
        """It slows down: a cache does so, and a leak that is reached less often."""
        said = self.ended(400, 300000, key="int(300 * (1 - math.exp(-i / 250)))", check=2)
        self.assertRegex(said[0], r"^seep: 1 finding in \d+ steps, undetermined$")
        self.assertRegex(" ".join(said), r"to do: Bound .*kept.* if nothing ever empties it\. +In doubt +run +longer")

    def test_a_whole_run_is_told_in_full(self):
        script, folder = self.path("job.py"), self.fresh()
        with open(script, "w") as f:
            f.write(JOB.replace("KEY", "i"))
        done = self.seep("run", "-o", folder, "--", sys.executable, script, 300, 200000)
        self.assertIn("\n    held by ", done.err)
        self.assertIn("\nIn a browser: seep view ", done.err)


if __name__ == "__main__":
    unittest.main()
