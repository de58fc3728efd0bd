"""`seep run --top`: the job and `seep top` in one terminal, and nothing of what the job prints is lost."""
import os
import shutil
import signal
import subprocess
import sys
import unittest

from tests.cli.test_top import Screen
from tests.e2e.support import SEEP, SeepCase, children_of, job_env, needs

JOB = '''
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
print("printed", "told", sep="-", flush=True)
print("also", "told", sep="-", file=sys.stderr, flush=True)
kept = []
while not os.path.exists(sys.argv[1]):
    kept.append(bytearray(32 * 1024))
    time.sleep(0.02)
print("input", repr(sys.stdin.read()))
sys.exit(3)
'''


@needs(shutil.which("tmux"), "no tmux here")
class RunTop(SeepCase):
    def setUp(self):
        super().setUp()
        self.stop, job = self.path("stop"), self.path("job.py")
        with open(job, "w") as f:
            f.write(JOB)
        self.screen = Screen(self, 80, 24, "--top", "-o", self.path("run.d"), "--", sys.executable, job, self.stop, command="run")
        self.screen.see(r"^\d+ +trainer +running +\S+ MiB")
        self.assertNotIn("-told", self.screen.text())

    def end_job(self):
        open(self.stop, "w").close()

    def test_what_the_job_printed_follows_when_it_has_ended(self):
        self.end_job()
        self.assertEqual(self.screen.ended(), 3)
        self.assertRegex(self.screen.text(), r"\A\s*printed-told\nalso-told\ninput ''\n\nseep: the job failed \(ended with status 3\)")
        self.assertEqual([name for name in os.listdir(self.screen.folder) if "output" in name], [])

    def test_q_leaves_it_and_the_job_goes_on(self):
        self.screen.press("q")
        self.screen.see(r"^printed-told\nalso-told$")
        self.assertNotRegex(self.screen.text(), r"status|input")
        self.end_job()
        self.screen.see(r"^input ''$")
        self.assertEqual(self.screen.ended(), 3)
        self.assertEqual(self.screen.text().count("printed-told"), 1)

    def test_what_asks_seep_to_end_asks_the_job(self):
        outer, = children_of(int(self.screen.tmux("display-message", "-p", "#{pane_pid}")))
        os.kill(outer, signal.SIGTERM)
        self.assertEqual(self.screen.ended(), 5)


class WithoutATerminal(SeepCase):
    def test_the_job_runs_and_why_is_said(self):
        done = subprocess.run([SEEP, "run", "--top", "-o", self.path("run.d"), "--", sys.executable, "-c", "print(input()); exit(4)"],
                              cwd=self.dir, env=job_env(), input="asked\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stdout), (4, "asked\n"))
        self.assertTrue(done.stderr.startswith("seep: --top needs a terminal for input, output and errors: the job runs without it"), done.stderr)


if __name__ == "__main__":
    unittest.main()
