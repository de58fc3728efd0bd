"""Children whose parent has ended get the same parent as without seep, and the report still says how they ended."""
import ctypes
import os
import unittest

from tests.e2e import support
from tests.e2e.support import SYSTEM_PYTHON, SeepCase

HOLDERS = (("--holders", "auto"), ("--holders", "1,2"), ("--holders", "off"))
PR_SET_CHILD_SUBREAPER = 36

# An orphan says who its parent is once that is another, and so does its kernel's record of it.
ORPHAN = """
import os, sys, time
r, w = os.pipe()
first = os.getpid()
if os.fork() == 0:
    middle = os.getpid()
    if os.fork() == 0:
        while os.getppid() == middle:
            time.sleep(0.005)
        said = int(open("/proc/self/stat").read().rsplit(") ", 1)[1].split()[1])
        who = {1: b"init", first: b"the first process"}
        os.write(w, who.get(os.getppid(), b"a stranger %d" % os.getppid()) + b" " + who.get(said, b"another"))
        os._exit(0)
    os._exit(0)
os.close(w)
print(os.wait()[1], os.read(r, 100).decode())
try:
    os.wait()
except ChildProcessError:
    print("no child is left")
"""

# One that is killed once its parent has ended, one that leaves by a status, and one that dies with the job.
ENDS = r"""
orphan() { (sh -c "echo \$\$ > $1.pid; until [ -e $1.go ]; do sleep 0.02; done; $2" & ) }
gone() { while kill -0 $1 2>/dev/null && ! grep -q '^State:.Z' /proc/$1/status; do sleep 0.02; done; }
orphan killed 'kill -9 $$'
orphan left 'exit 5'
until [ -s killed.pid ] && [ -s left.pid ]; do sleep 0.02; done
sleep 0.6
: > killed.go; : > left.go
gone $(cat killed.pid); gone $(cat left.pid)
exit 4
"""


class Orphans(SeepCase):
    def each_way(self, argv, **kw):
        plain = self.command(argv, **kw)
        for options in HOLDERS:
            done = self.run_seep(argv, options=options, status=None, **kw).done
            self.assertEqual((done.status, done.stdout, done.stderr), (plain.status, plain.stdout, plain.stderr), options)
        return plain

    def test_an_orphan_sees_the_parent_that_it_sees_without_seep(self):
        self.each_way([SYSTEM_PYTHON, "-c", ORPHAN])

    def test_a_job_that_is_to_have_its_orphans_has_them(self):
        """Whoever starts a command may make it their parent, which goes on through exec."""
        plain = self.each_way([SYSTEM_PYTHON, "-c", ORPHAN], preexec_fn=lambda: ctypes.CDLL(None).prctl(
            PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        self.assertIn(b"the first process the first process", plain.stdout)

    def test_how_orphans_ended_is_known(self):
        for options in HOLDERS:
            folder = self.fresh("cwd")
            os.mkdir(folder)
            profile = self.run_seep(["sh", "-c", ENDS], options=options, status=4, cwd=folder)
            exits = [(p["exit"]["kind"], p["exit"]["value"]) for p in profile.report["processes"]]
            self.assertIn(("exit", 5), exits, profile.report["processes"])
            if ("signal", 9) not in exits:  # reaped too soon, and a kernel before 6.15 does not keep it
                self.assertLess(support.kernel_release(), (6, 15), exits)

    def test_a_daemon_goes_on(self):
        done = self.seep("run", "-q", "-o", self.fresh(), "--", "sh", "-c", "setsid sleep 300 >/dev/null 2>&1 & echo $!")
        self.addCleanup(os.kill, int(done.stdout), 9)
        os.kill(int(done.stdout), 0)


if __name__ == "__main__":
    unittest.main()
