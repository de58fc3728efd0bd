"""A look never costs a job its life: what it takes of the job's memory, and what the kernel ends first."""
import glob
import os
import subprocess
import sys
import unittest

from tests.e2e import support
from tests.e2e.memory_cgroup import MemoryCgroup
from tests.e2e.support import SEEP, SeepCase

JOB = '''
import ctypes, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)  # PR_SET_PTRACER, anybody
kept = [float(i) for i in range(400000)]
print("ready", flush=True)
sys.stdin.read()
'''
# Writes all of its memory over and over, and says how often when it is asked.
REWRITES = '''
import ctypes, select, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
kept = [bytearray(1 << 20) for i in range(60)]
small = [float(i) for i in range(100000)]
new, rounds = bytes(1 << 20), 0
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for array in kept:
        array[:] = new
    rounds += 1
print(rounds, flush=True)
'''


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


COPIED = r"paused for \d+ ms\.\n"  # not "while it was read"


@support.needs_to_read_children
class Limits(SeepCase):
    def begin(self, program, into=None):
        job = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               preexec_fn=lambda: into and into.add(os.getpid()))
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

    def begin_at(self, percent):
        """A job that uses so much of its cgroup's limit, and the cgroup."""
        group = MemoryCgroup(self)
        job = self.begin(REWRITES, into=group)
        group.limit(group.used() * 100 // percent)
        return job, group

    def look(self, job, *options, into=None):
        return subprocess.run([SEEP, "look", *options, str(job.pid)], capture_output=True, text=True, timeout=600,
                              preexec_fn=lambda: into and into.add(os.getpid()))

    def check_that_it_lives(self, job, group):
        self.assertEqual(group.oom_kills(), 0)
        job.stdin.write("\n")
        job.stdin.flush()
        self.assertGreater(int(job.stdout.readline()), 0)
        self.assertEqual(job.wait(), 0)

    def test_a_job_near_its_limit_outlives_a_look_from_outside(self):
        for percent, said in ((25, COPIED), (70, "a copy may take"), (90, "a copy may take"), (98, "a copy may take")):
            with self.subTest(percent):
                job, group = self.begin_at(percent)
                done = self.look(job)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, said)
                self.check_that_it_lives(job, group)
                group.remove()

    def test_a_copy_that_does_not_fit_is_not_made_because_it_was_asked_for(self):
        job, group = self.begin_at(80)
        done = self.look(job, "--copy")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^seep: no copy of process \d+ was made, for a copy may take [\d.]+ MiB, and the cgroup's "
                                      r"memory limit leaves [\d.]+ MiB: try --stop\n$")
        self.check_that_it_lives(job, group)

    def test_a_job_near_its_limit_outlives_a_look_from_its_container(self):
        for percent, status, said in ((25, 0, COPIED), (40, 0, "a copy may take"), (95, 2, "memory was short: ")):
            with self.subTest(percent):
                job, group = self.begin_at(percent)
                done = self.look(job, into=group)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertRegex(done.stdout + done.stderr, said)
                self.check_that_it_lives(job, group)
                group.remove()

    def test_a_container_that_would_be_killed_as_one_outlives_a_look(self):
        if not MemoryCgroup(self).kill_all_together():
            self.skipTest("version 1 of cgroups has no memory.oom.group")
        for percent, inside in ((40, False), (55, False), (80, False), (97, False), (40, True), (80, True), (97, True)):
            with self.subTest(percent, inside=inside):
                job, group = self.begin_at(percent)
                self.assertTrue(group.kill_all_together())
                done = self.look(job, into=group if inside else None)
                self.assertIn(done.returncode, (0, 2), done.stderr)
                self.assertTrue(done.returncode == 0 or "memory was short" in done.stderr, done.stderr)
                self.check_that_it_lives(job, group)
                group.remove()

    def test_all_processes_of_a_tree_and_all_looks_keep_to_the_limit(self):
        job, group = self.begin_at(85)
        done = self.look(job, "--tree", "--every", "0.1", "--times", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_that_it_lives(job, group)

    def test_a_process_that_is_killed_in_a_look_is_told(self):
        for _ in range(100):  # a look may be over before it was met
            job = self.begin(JOB)
            look = subprocess.Popen([SEEP, "look", "--stop", str(job.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while look.poll() is None and b") t " not in read("/proc/%d/stat" % job.pid):
                pass
            job.kill()
            _, said = look.communicate()
            if look.returncode == 1:
                self.assertEqual(said, "seep: process %d ended while it was looked at, killed by signal 9\n" % job.pid)
                return
        self.fail("no look was met")

    def test_a_process_that_ends_between_two_looks_is_told(self):
        for end, status, said in (("kill", 1, "killed by signal 9"), ("", 0, "with status 0")):
            with self.subTest(end):
                job = self.begin(JOB)
                look = subprocess.Popen([SEEP, "look", "--each-line", str(job.pid)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                look.stdin.write("\n")
                look.stdin.flush()
                self.assertEqual(look.stderr.readline(), "seep: look 1\n")
                (job.kill if end else job.stdin.close)()
                os.waitid(os.P_PID, job.pid, os.WEXITED | os.WNOWAIT)
                out, err = look.communicate("\n")
                self.assertEqual(err, "seep: process %d ended between two looks, %s\n" % (job.pid, said))
                self.assertEqual(look.returncode, status)
                self.assertIn("__main__.kept", out)


if __name__ == "__main__":
    unittest.main()
