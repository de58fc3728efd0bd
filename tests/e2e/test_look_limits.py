"""A look never costs a job its life: what it takes of the job's memory, and what the kernel ends first."""
import glob
import os
import subprocess
import sys
import unittest

from tests.e2e import support
from tests.e2e.support import SEEP, SeepCase

JOB = '''
import ctypes, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)  # PR_SET_PTRACER, anybody
kept = [float(i) for i in range(400000)]
print("ready", flush=True)
sys.stdin.read()
'''


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


@support.needs_to_read_children
class Limits(SeepCase):
    def begin(self, program, *arguments):
        job = subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
        for end in (job.wait, job.stdout.close, job.stdin.close, job.kill):
            self.addCleanup(end)
        self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def copies_of(self, job):
        """{pid: oom_score_adj} of the processes that look like the job."""
        name = read("/proc/%d/cmdline" % job.pid)
        found = {}
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            if path.split("/")[2] != str(job.pid) and read(path) == name:
                found[path.split("/")[2]] = read(os.path.dirname(path) + "/oom_score_adj").strip()
        return found

    def test_if_memory_runs_out_the_copy_goes_before_the_job(self):
        job = self.begin(JOB)
        last = {}
        for _ in range(100):  # a look may be over before its copy was met, or the copy met before it was told
            if b"1000" in last.values():
                break
            look = subprocess.Popen([SEEP, "look", "--copy", str(job.pid)], stdout=subprocess.DEVNULL)
            while look.poll() is None:
                last.update(pair for pair in self.copies_of(job).items() if pair[1])
            self.assertEqual(look.returncode, 0)
        self.assertIn(b"1000", last.values(), last)
        self.assertEqual(read("/proc/%d/oom_score_adj" % job.pid), b"0\n")


if __name__ == "__main__":
    unittest.main()
