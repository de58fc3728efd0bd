"""Programs that are looked at over and over end as they do when nobody looks: what they print, their status, and what
they count themselves. SEEP_LOOKS is how often; `make look-often` looks 10,000 times."""
import itertools
import os
import subprocess
import sys
import time
import unittest

from tests.e2e import support
from tests.e2e.support import SEEP, SeepCase

LOOKS = int(os.environ.get("SEEP_LOOKS", "30"))
WAYS = ("--copy", "--stop", "--live")
LOCKS = '''
import ctypes, fcntl, mmap, select, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)  # PR_SET_PTRACER, anybody
print("ready", flush=True)
failed = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    with open(sys.argv[1], "r+b") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        mapped = mmap.mmap(f.fileno(), 4096)
    mapped.close()  # and with it goes the lock
    with open(sys.argv[1], "r+b") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            failed += 1
            fcntl.flock(f, fcntl.LOCK_EX)
print(failed, "locks were held by somebody else")
'''
CHILDREN = '''
import ctypes, os, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
print("ready", flush=True)
sys.stdin.read()
try:
    print("a stranger", os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("no children")
'''
# Has a file of userfaultfd: who forks waits until its reader has heard of it.
TOLD_OF_FORKS = '''
import ctypes, struct, sys
libc = ctypes.CDLL(None)
libc.prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
fd = libc.syscall(323, 0)
fork_events = ctypes.create_string_buffer(struct.pack("QQQ", 0xAA, 1 << 1, 0))  # UFFD_FEATURE_EVENT_FORK
can = fd >= 0 and libc.ioctl(fd, 0xc018aa3f, fork_events) == 0
print("ready" if can else "cannot", flush=True)
sys.stdin.read()
print("done")
'''
# What may be answered instead of a look: it waits in vfork(), or there was no room for a copy just then.
MAY_SAY = ("does not stop in time", "no copy of process")


@support.needs_to_read_children
class Unnoticed(SeepCase):
    def begin(self, *command):
        job = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def look_often(self, job, times):
        """How many looks by each way were answered; whatever else is said fails."""
        answered = dict.fromkeys(WAYS, 0)
        for n, way in enumerate(itertools.islice(itertools.cycle(WAYS), times)):
            if n and n % 500 == 0:
                print("%d looks, answered: %s" % (n, answered), flush=True)
            # A look takes some milliseconds, and a machine that is busy with other things for an hour starves one.
            done = subprocess.run([SEEP, "look", way, "--format", "json", str(job.pid)], capture_output=True, text=True,
                                  timeout=600)
            self.assertIsNone(job.poll(), "it ended: %s" % done.stderr)
            if done.returncode == 2:
                self.assertTrue(any(said in done.stderr for said in MAY_SAY), done.stderr)
            else:
                self.assertIn(done.returncode, (0, 1), done)
                answered[way] += 1
        return answered

    def test_a_program_that_would_notice(self):
        job = self.begin(self.subject("looked_at"))
        began = time.monotonic()
        answered = self.look_often(job, LOOKS)
        print("%d looks in %.0f s, answered: %s" % (LOOKS, time.monotonic() - began, answered))
        output, _ = job.communicate()
        self.assertEqual((output, job.returncode), ("nothing noticed\n", 7))
        for way in WAYS:
            self.assertGreater(answered[way], LOOKS / 3 * 0.8, way)

    def test_what_it_has_locked_and_mapped_is_held_by_nobody_else(self):
        with open(self.path("file"), "wb") as f:
            f.write(bytes(4096))
        job = self.begin(sys.executable, "-c", LOCKS, self.path("file"))
        self.look_often(job, 15)
        output, _ = job.communicate()
        self.assertEqual((output, job.returncode), ("0 locks were held by somebody else\n", 0))

    def child_of(self, pid):
        """The newest process below it, which may be it."""
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            children = f.read().split()
        return self.child_of(int(children[-1])) if children else pid

    def test_a_process_of_another_pid_namespace_meets_no_stranger(self):
        if subprocess.run(["unshare", "-p", "-f", "true"], capture_output=True).returncode:
            self.skipTest("no pid namespace may be made here")
        for command in ("exec %s -c \"$0\"", "%s -c \"$0\"; true"):  # as its first process, and as another one
            with self.subTest(command):
                job = self.begin("unshare", "-p", "-f", "sh", "-c", command % sys.executable, CHILDREN)
                for way in (["--copy"], []):
                    done = subprocess.run([SEEP, "look", *way, str(self.child_of(job.pid))], capture_output=True, text=True)
                    self.assertTrue(done.returncode == 0 or "it is the first process here" in done.stderr, done.stderr)
                output, _ = job.communicate()
                self.assertEqual(output, "no children\n")

    def test_who_would_be_told_of_a_fork_is_not_made_to_fork(self):
        job = subprocess.Popen([sys.executable, "-c", TOLD_OF_FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        self.addCleanup(job.stdout.close)
        if job.stdout.readline() != "ready\n":
            self.skipTest("userfaultfd is not to be had here")
        done = subprocess.run([SEEP, "look", str(job.pid)], capture_output=True, text=True, timeout=60)
        self.assertIn(": it uses userfaultfd or InfiniBand", done.stdout + done.stderr)
        output, _ = job.communicate(timeout=60)
        self.assertEqual((output, job.returncode), ("done\n", 0))


if __name__ == "__main__":
    unittest.main()
