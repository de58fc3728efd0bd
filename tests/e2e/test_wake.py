"""A process that was started with SEEP_WAIT=1 records nothing until `seep wake` tells it to."""
import glob
import os
import subprocess
import time
import unittest

from tests.e2e.support import SEEP, SHIM, SYSTEM_PYTHON, SeepCase

JOB = '''
import os, subprocess, sys, time
before = [bytearray(70000) for _ in range(50)]
kept = []
def keep():
    kept.append(bytearray(60000))  # LEAK
def child(name, seconds):
    pid = os.fork()
    if pid == 0:
        mine, end = [], time.monotonic() + seconds
        while time.monotonic() < end or not os.path.exists(sys.argv[1]):
            mine.append(bytearray(30000))
            time.sleep(0.01)
        os._exit(0)
    print(name, pid, flush=True)
    return pid
print("pid", os.getpid(), flush=True)
early = child("early", 0) if "children" in sys.argv else 0
while not os.path.exists(sys.argv[1]):  # until the test has seen that it was woken
    keep()
    time.sleep(0.01)
for i in range(40):
    keep()
    before.pop()
    time.sleep(0.01)
if early:
    late = child("late", 0.5)
    program = "import os; b = [bytearray(90000) for _ in range(99)]; print(os.getpid())"
    print("program", subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip(), flush=True)
    os.waitpid(late, 0)
    os.waitpid(early, 0)
print("ends", flush=True)
sys.exit(5)
'''


class Wake(SeepCase):
    def begin(self, *arguments, **variables):
        with open(self.path("job.py"), "w", encoding="utf-8") as f:
            f.write(JOB)
        self.go_on = self.path("go-on")
        command = [SYSTEM_PYTHON, self.path("job.py"), self.go_on, *arguments]
        self.job = subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                    cwd=self.dir, env=dict(os.environ, LD_PRELOAD=SHIM, SEEP_WAIT="1", **variables))
        self.addCleanup(self.job.stdout.close)
        self.addCleanup(self.job.kill)
        return int(self.line("pid"))

    def line(self, word):
        said = self.job.stdout.readline().split()
        self.assertEqual(said[0], word)
        return said[1] if len(said) > 1 else None

    def end(self):
        with open(self.go_on, "w", encoding="utf-8"):
            pass

    def wake(self, pid, *options):
        return self.command([SEEP, "wake", *options, str(pid)], cwd=self.dir, timeout=60)

    def is_woken(self, pid, folder, *options, children=""):
        done = self.wake(pid, *options)
        self.assertEqual((done.status, done.stderr), (0, b""), repr(done))
        self.assertIn(done.stdout.decode(), ["process %d%s: %s\n" % (pid, children, said % folder) for said in (
            "recorded in %s", "will be recorded in %s, from the next allocations on")])
        self.begins(pid, folder)

    def begins(self, pid, folder):
        end = time.monotonic() + 60
        while not glob.glob(os.path.join(folder, "%d-*.seep" % pid)):
            self.assertLess(time.monotonic(), end, "it has not begun")
            time.sleep(0.05)

    def made(self):
        return [name for name in os.listdir(self.dir) if name not in ("job.py", "go-on")]

    def test_nothing_is_recorded_of_a_process_that_nobody_wakes(self):
        pid = self.begin()
        time.sleep(0.7)
        self.end()
        self.line("ends")
        self.assertEqual(self.job.wait(60), 5)
        self.assertEqual(self.made(), [])
        self.assertEqual(glob.glob("/tmp/.seep-wake-*-%d*" % pid), [])

    def test_seep_run_records_without_waiting(self):
        profile = self.run_seep([SYSTEM_PYTHON, "-c", "pass"], env=dict(os.environ, SEEP_WAIT="1"))
        self.assertEqual(len(profile.written["processes"]), 1)
        self.assertNotIn("it was woken", "".join(profile.written["coverage"]["not_seen"]))

    def test_what_comes_after_is_recorded(self):
        folder = self.path("runs/woken.d")
        pid = self.begin()
        time.sleep(0.3)
        self.is_woken(pid, folder, "-o", "runs/woken.d")
        again = self.wake(pid)
        self.assertEqual(again.status, 2)
        self.assertIn("is recorded already", self.one_line_error(again))
        self.end()
        self.line("ends")
        self.assertEqual(self.job.wait(60), 5)
        self.assertEqual(glob.glob("/tmp/.seep-wake-*-%d*" % pid), [])
        report = self.report(folder, "--all")
        line = 1 + ["# LEAK" in text for text in JOB.splitlines()].index(True)
        kept = [s for s in report["sites"]
                if any(f.get("file") == self.path("job.py") and f.get("line") == line for f in s["stack"])]
        self.assertGreaterEqual(sum(s["allocations"] for s in kept), 40)
        said = [text for text in report["coverage"]["not_seen"] if "it was woken" in text]
        self.assertEqual(len(said), 1, report["coverage"])
        self.assertRegex(said[0], r"pid %d: it was woken [\d.]+ s after it began: .*; it freed \d+ blocks of that since" % pid)

    def test_its_descendants_are_woken_as_well(self):
        folder = self.path("w.d")
        pid = self.begin("children")
        early = int(self.line("early"))
        self.is_woken(pid, folder, "-o", folder, children=" and 1 of its children that waited")
        self.begins(early, folder)
        self.end()
        late, program = int(self.line("late")), int(self.line("program"))
        self.line("ends")
        self.assertEqual(self.job.wait(60), 5)
        self.assertEqual({p["pid"] for p in self.report(folder)["processes"]}, {pid, early, late, program})

    def test_the_folder_may_have_been_given_before(self):
        pid = self.begin(SEEP_OUT="before.d")
        self.is_woken(pid, self.path("before.d"))
        self.end()
        self.assertEqual(self.job.wait(60), 5)

    def test_another_process_of_the_job_joins_its_folder(self):
        first = self.begin(SEEP_OUT="before.d")
        self.is_woken(first, self.path("before.d"))
        first_job = self.job
        second = self.begin(SEEP_OUT="before.d")
        self.is_woken(second, self.path("before.d"))
        self.end()
        self.assertEqual((first_job.wait(60), self.job.wait(60)), (5, 5))
        self.assertEqual({p["pid"] for p in self.report(self.path("before.d"))["processes"]}, {first, second})

    def test_a_name_is_made_up_where_none_was_given(self):
        pid = self.begin()
        self.is_woken(pid, self.path("seep.job.py.%d.d" % pid))
        self.end()
        self.assertEqual(self.job.wait(60), 5)

    def test_what_another_could_have_written_is_not_obeyed(self):
        pid = self.begin()
        file, folder = "/tmp/.seep-wake-%d-%d" % (os.geteuid(), pid), self.path("other.d")
        self.addCleanup(lambda: os.path.exists(file) and os.unlink(file))
        os.mkdir(folder)
        for mode, text in ((0o660, folder + "\n"), (0o606, folder + "\n"), (0o600, folder), (0o600, "other.d\n")):
            with open(file, "w", encoding="utf-8") as f:
                os.chmod(file, mode)
                f.write(text)
            time.sleep(0.8)
            self.assertTrue(os.path.exists(file))
        os.unlink(file)
        os.symlink(self.path("job.py"), file)
        time.sleep(0.8)
        self.end()
        self.assertEqual(self.job.wait(60), 5)
        self.assertEqual((os.listdir(folder), self.made()), ([], ["other.d"]))

    def test_a_process_that_does_not_wait_is_told_apart(self):
        for pid, said in ((os.getpid(), "does not wait for seep"), (0x7fffffff, "cannot be read")):
            done = self.wake(pid)
            self.assertEqual(done.status, 2)
            self.assertIn(said, self.one_line_error(done))
        for words in ((), ("12", "13"), ("job",)):
            done = self.command([SEEP, "wake", *words])
            self.assertEqual(done.status, 2)
            self.one_line_error(done)
        pid = self.begin()
        os.mkdir(self.path("taken.d"))
        with open(self.path("taken.d/1-2.seep"), "w", encoding="utf-8"):
            pass
        done = self.wake(pid, "-o", "taken.d")
        self.assertEqual(done.status, 2)
        self.assertIn("already holds a profile", self.one_line_error(done))


if __name__ == "__main__":
    unittest.main()
