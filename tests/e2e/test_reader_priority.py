"""What examines a copy takes only time that nobody else wants, unless somebody waits for what it finds."""
import os
import pathlib
import signal
import subprocess
import time
import unittest

from tests.e2e.support import SEEP, SYSTEM_PYTHON, SeepCase, children_of, job_env, kill_session, needs_to_read_children
from tests.e2e.test_snapshots import documents, many, name_of

PLAIN, IDLE = 0, 5  # policies, as in sched.h
PATIENCE = 60

# A reader is met at work, and then a job that is about to end. The first look comes after six steps.
MANY = many(7, "sys.stdin.read()")


def priority_of(pid):
    """(nice value, policy): fields 19 and 41 of its stat."""
    fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()
    return int(fields[16]), int(fields[38])


def may_go_back():
    """Whether a process may raise its priority again: root in most containers may."""
    pid = os.fork()
    if pid == 0:
        try:
            os.nice(19)
            os.setpriority(os.PRIO_PROCESS, 0, 0)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


@needs_to_read_children
class ReaderPriority(SeepCase):
    def start(self, *options):
        self.folder = self.fresh()
        self.p = subprocess.Popen([SEEP, "run", "-q", "-o", self.folder, *options, "--", SYSTEM_PYTHON, "-c", MANY],
                                  stdin=subprocess.PIPE, env=job_env(), start_new_session=True)
        self.addCleanup(self.p.stdin.close)
        self.addCleanup(kill_session, self.p.pid)

    def stop_reader_with(self, *wanted):
        """Its pid. It does not end before anybody has seen it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            self.assertLess(time.monotonic(), deadline, "no reader has priority %s" % (wanted,))
            for pid in children_of(self.p.pid):
                try:
                    if name_of(pid) == "seep-reader" and priority_of(pid) == wanted:
                        os.kill(pid, signal.SIGSTOP)
                        return pid
                except (OSError, IndexError):  # it has ended
                    pass
            time.sleep(0.001)

    def end(self, reader):
        os.kill(reader, signal.SIGCONT)
        self.assertEqual(self.p.wait(PATIENCE), 0)
        self.assertTrue(documents(self.folder))

    def test_it_steps_aside_and_comes_forward_as_the_job_has_ended(self):
        self.start()
        reader = self.stop_reader_with(19, IDLE if may_go_back() else PLAIN)
        self.p.stdin.close()
        deadline = time.monotonic() + PATIENCE
        while may_go_back() and priority_of(reader) != (0, PLAIN):
            self.assertLess(time.monotonic(), deadline, priority_of(reader))
            time.sleep(0.001)
        self.end(reader)

    def test_one_for_a_listed_step_is_waited_for(self):
        self.start("--holders", "6")
        reader = self.stop_reader_with(5, PLAIN)
        self.assertEqual(pathlib.Path("/proc/%d/oom_score_adj" % reader).read_text().strip(), "1000")
        self.p.stdin.close()
        self.end(reader)


if __name__ == "__main__":
    unittest.main()
