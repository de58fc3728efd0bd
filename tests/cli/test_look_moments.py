"""`seep look` at a Python that ends or still starts: what its modules held, or will hold, would look lost, so it is
refused in words."""
import os
import subprocess
import unittest

from tests.e2e.support import SEEP, SeepCase, needs_to_read_children, supported

ENDS = """
import sys
class Slow:
    def __del__(self, told=sys.stdout, wait=sys.stdin.read):
        told.write("ending\\n"); told.flush(); wait()
slow = Slow()
kept = [str(i) * 20 for i in range(1000)]
"""

# Imported before the interpreter may run anything else, and before modules are complete.
STARTS = """
import posix
posix.write(1, b"starting\\n")
posix.read(0, 1)
"""


@needs_to_read_children
class LookMoments(SeepCase):
    def test_a_python_that_takes_its_modules_apart(self):
        for version, python in self.every_python():
            if not supported(version):
                continue
            with self.subTest(python), subprocess.Popen([python, "-c", ENDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                        text=True) as job:
                self.assertEqual(job.stdout.readline(), "ending\n")
                done = subprocess.run([SEEP, "look", str(job.pid)], capture_output=True, text=True)
                job.stdin.close()
                self.assertEqual((done.returncode, done.stderr), (
                    2, "seep: the Python of process %d is ending and takes its modules apart: look at it before\n" % job.pid))

    def test_a_python_that_still_starts(self):
        os.mkdir(self.path("encodings"))
        with open(self.path("encodings/__init__.py"), "w", encoding="utf-8") as f:
            f.write(STARTS)
        for version, python in self.every_python():
            if not supported(version):
                continue
            with self.subTest(python), subprocess.Popen(
                    [python, "-c", "pass"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    env=dict(os.environ, PYTHONPATH=self.path("")), text=True) as job:
                self.assertEqual(job.stdout.readline(), "starting\n")
                done = subprocess.run([SEEP, "look", str(job.pid)], capture_output=True, text=True)
                job.kill()
                self.assertEqual((done.returncode, done.stderr),
                                 (2, "seep: the Python of process %d is still starting: try again\n" % job.pid))


if __name__ == "__main__":
    unittest.main()
