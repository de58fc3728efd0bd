"""A copy that cannot let go of what is the job's, because it has no CPU or stands still, is ended before the job goes
on: a filter has the kernel keep it in its first call, for ever."""
import json
import pathlib
import unittest

from tests.e2e.support import MODULES, SEEP, SYSTEM_PYTHON, SeepCase, job_env, needs_to_read_children

# usage: -c KEPT PROGRAM...: runs it where close_range(, , CLOSE_RANGE_UNSHARE) does not return. Whoever could let it go
# on has the descriptor, and never looks.
KEPT = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
rows = [(0x20, 0, 0, 0), (0x15, 0, 3, 436), (0x20, 0, 0, 32), (0x15, 0, 1, 2), (0x06, 0, 0, 0x7fc00000),
        (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows), 8 * len(rows))
libc.prctl(38, 1, 0, 0, 0)
fd = libc.syscall(317, 1, 8, struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code)))
if fd < 0:
    sys.exit(99)
os.set_inheritable(fd, True)
os.execv(sys.argv[1], sys.argv[1:])
"""
# Prints what it has for children, of any kind, after each step, and who else has its files.
JOB = """
import ctypes, os, signal, time, seep
libc = ctypes.CDLL(None, use_errno=True)
signal.signal(signal.SIGALRM, lambda *a: None)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
kept = []
for i in range(8):
    kept.append(bytearray(300000))
    seep.step()
    print(libc.waitpid(-1, None, 0x40000001), open("/proc/self/task/%d/children" % os.getpid()).read())
signal.setitimer(signal.ITIMER_REAL, 0)
"""


@needs_to_read_children
class Unborn(SeepCase):
    def test_it_is_ended_before_its_maker_goes_on(self):
        folder = self.fresh()
        done = self.command([SYSTEM_PYTHON, "-c", KEPT, SEEP, "run", "-q", "-o", folder, "--holders", "3", "--",
                             SYSTEM_PYTHON, "-c", JOB], env=job_env(PYTHONPATH=MODULES))
        if done.status == 99:
            self.skipTest("no filter can be made here that asks")
        self.assertEqual((done.status, done.stderr), (0, b""))
        self.assertEqual(done.stdout, b"-1 \n" * 8)
        said = json.loads(pathlib.Path(folder, "report.json").read_text())["coverage"]["holders"]
        self.assertEqual(said, {"taken": 0, "refused": {"cost": 1}})


if __name__ == "__main__":
    unittest.main()
