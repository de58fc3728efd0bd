"""`seep top`: on a terminal (tmux's), and on paper. A job runs until it is told to stop; whatever is to appear is waited
for, never for a time."""
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from tests.cli.ci_jobs import CiCase
from tests.cli.running_jobs import WAIT, RunningJob
from tests.e2e.support import SEEP, SeepCase, children_of, job_env, needs

JOB = '''
import os, sys, time
import seep

kept = []
EVIL = "def keep():\\n    kept.append(bytearray(16 * 1024))\\n"
exec(compile(EVIL, "/e\\x1b]0;owned\\x07v\\u202ei\\u200fl.py", "exec"))
MANY = ["def many%d(): kept.append(bytearray(1000))\\n" % i for i in range(12)]
exec(compile("".join(MANY), "/many.py", "exec"))


def load():
    kept.append(bytearray(32 * 1024))


while not os.path.exists(sys.argv[1]):
    load()
    keep()
    for i in range(12):
        globals()["many%d" % i]()
    seep.step()
    time.sleep(0.05)
'''


class Screen:
    """A terminal with `seep top`, or another command of seep's, in it."""

    def __init__(self, test, columns, rows, *args, env=(), command="top"):
        self.test, self.folder = test, test.fresh("screen")
        os.mkdir(self.folder)
        self.env = job_env(TMUX=None, TMUX_TMPDIR=self.folder, NO_COLOR=None, LC_ALL="C.UTF-8")
        said = " ".join("%s=%s" % pair for pair in dict(env).items())
        command = "stty -g >%s/before; env %s '%s' %s %s; echo status $?; stty -g >%s/after; exec sleep 1000" % (
            self.folder, said, SEEP, command, " ".join("'%s'" % a for a in args), self.folder)
        test.addCleanup(self.tmux, "kill-server", check=False)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "sh", "-c", command)

    def tmux(self, *args, check=True):
        done = subprocess.run(["tmux", "-u", *args], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=WAIT)
        if check:
            self.test.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def text(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def see(self, pattern, *options):
        """The match of a pattern on the screen, once it is there."""
        end = time.monotonic() + WAIT
        while True:
            text = self.text(*options)
            found = re.search(pattern, text, re.M)
            if found:
                return found
            self.test.assertLess(time.monotonic(), end, "no %r on:\n%s" % (pattern, text))
            time.sleep(0.05)

    def pid(self):
        """Of the command: the shell's only child."""
        shell = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        return children_of(shell)[0]

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def ended(self):
        """The exit status, of a terminal that is as it was."""
        status = int(self.see(r"^status (\d+)$").group(1))
        after = os.path.join(self.folder, "after")
        end = time.monotonic() + WAIT
        while not (os.path.exists(after) and os.path.getsize(after)):
            self.test.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        with open(os.path.join(self.folder, "before")) as before, open(after) as now:
            self.test.assertEqual(before.read(), now.read())
        self.test.assertEqual(self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split(), ["0", "1"])
        return status


class JobCase(RunningJob, SeepCase):
    def setUp(self):
        super().setUp()
        self.folder = self.path("run.d")
        self.start_job(self.folder, JOB)
        end = time.monotonic() + WAIT
        while not re.search(r"\b[1-9]\d steps", self.seep("top", "--once", self.folder).stdout.decode()):
            self.assertIsNone(self.job.poll(), "the job has ended")
            self.assertLess(time.monotonic(), end, "the job makes no steps")
            time.sleep(0.1)


@needs(shutil.which("tmux"), "no tmux here")
class OnATerminal(JobCase):
    def test_a_running_job_is_shown_as_it_goes(self):
        screen = Screen(self, 100, 24, self.folder)
        steps = int(screen.see(r"job\.py .* (\d+) steps .* running$").group(1))
        screen.see(r"^host +\S+ [KM]iB +\S+ [KM]iB .*\[#* *\] +\d+% .*[\u2581-\u2588]")
        screen.see(r"^resident +\S+ MiB")
        screen.see(r"^\d+ +trainer +running +\S+ MiB")
        screen.see(r"^> job\.py:13 in load +host .*\+3\d\.\d KiB +\d+  unbounded-growth")
        end = time.monotonic() + WAIT
        while int(screen.see(r" (\d+) steps .* running$").group(1)) == steps:
            self.assertLess(time.monotonic(), end, "the steps stand still")
        self.end_job()
        screen.see(r" ended$")
        screen.press("q")
        self.assertEqual(screen.ended(), 0)

    def test_keys_sort_filter_search_choose_and_lead_to_details(self):
        screen = Screen(self, 80, 24, self.folder)
        screen.see(r">FINDING$")
        screen.press("p")  # nothing moves meanwhile
        screen.see(r"paused$")
        screen.press("s")
        screen.see(r">GROWTH/STEP")
        screen.press("s")
        screen.see(r" >LIVE")
        screen.press("s")
        screen.see(r" >PEAK")
        screen.press("f")
        space = screen.see(r"^LINES \S+ of (\w+)").group(1)
        self.assertRegex(screen.text(), r"(?m)^> \S.* %s " % space)
        screen.press("Escape")
        everything = int(screen.see(r"^LINES 1-\d+/(\d+) +SPACE").group(1))
        screen.press("/", "i", "n", " ", "L", "O", "A", "D")
        screen.see(r"^search: in LOAD_")
        screen.press("BSpace", "Enter")
        screen.see(r"^> job\.py:13 in load +host")
        screen.press("Enter")
        screen.see(r"^line +job\.py:13 in load$")
        screen.see(r"^stack 1/")
        screen.press("NPage")  # an interpreter with debug information has many frames of its own
        screen.see(r"^ +> job\.py:13 in load$")
        screen.press("h")
        screen.see(r"^q +quit; the job goes on")
        screen.press("Escape")
        screen.see(r"^LINES 1-")
        screen.press("Escape")
        screen.see(r"^LINES 1-\d+/%d " % everything)
        first = screen.see(r"^> (.*)$").group(1)
        screen.press("Down")
        screen.see(r"^  %s[^>]*^> " % re.escape(first))
        screen.tmux("resize-window", "-x", "80", "-y", "12")
        screen.see(r"^LINES 1-9/%d " % everything)
        screen.press("End")
        screen.see(r"^LINES %d-%d/%d " % (everything - 8, everything, everything))
        self.assertNotIn(first, screen.text())
        screen.press("Home")
        screen.see(r"^> %s" % re.escape(first))
        screen.press("q")
        self.assertEqual(screen.ended(), 0)

    def test_the_window_may_have_any_size(self):
        screen = Screen(self, 80, 24, self.folder)
        screen.see(r"^SPACE .*OF LIMIT")
        screen.tmux("resize-window", "-x", "140", "-y", "40")
        screen.see(r"^PID .*COMMAND")
        screen.tmux("resize-window", "-x", "40", "-y", "8")
        screen.see(r"\ALINES|\A.*\nLINES")
        screen.tmux("resize-window", "-x", "3", "-y", "1")
        screen.tmux("resize-window", "-x", "80", "-y", "24")
        screen.see(r"^q quit  s sort")
        screen.see(r"^SPACE .*OF LIMIT")
        screen.press("q")
        self.assertEqual(screen.ended(), 0)

    def test_every_window_has_what_leaks_and_how_long_there_is_room(self):
        screen = Screen(self, 80, 24, self.folder)
        for columns, rows in ((60, 12), (60, 20), (200, 50), (120, 40), (100, 30), (80, 24)):
            with self.subTest(columns=columns, rows=rows):
                screen.tmux("resize-window", "-x", str(columns), "-y", str(rows))
                screen.see(r"(?s)\A[^\n]{%d,%d}\n.*\n> job\.py:13 in load +host +[^\n]* unb[^\n]*\n.*\nq quit "
                           % (columns - 9, columns))
                if rows > 12:
                    screen.see(r"^SPACE .* FULL IN")
                    screen.see(r"^host .* (?:\d+ h|\d+ min|\d+ s|-) ")
        screen.press("q")
        self.assertEqual(screen.ended(), 0)

    def test_a_name_cannot_speak_to_the_terminal(self):
        screen = Screen(self, 120, 24, self.folder)
        screen.see(r"e\?\]0;owned\?v\?i\?l\.py:2 in keep")
        self.assertNotIn("owned", screen.tmux("display-message", "-p", "#{pane_title}"))

    def test_signals_end_it_cleanly(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                screen = Screen(self, 80, 24, self.folder)
                screen.see(r"^q quit")
                os.kill(screen.pid(), number)
                self.assertEqual(screen.ended(), 0)

    def test_a_folder_that_goes_away_leaves_the_last_picture(self):
        screen = Screen(self, 80, 24, "--interval", "0.1", self.folder)
        screen.see(r"^> ")
        os.rename(self.folder, self.folder + ".gone")
        screen.see(r"^the last look failed: ")
        self.assertRegex(screen.text(), r"(?m)^host ")
        os.rename(self.folder + ".gone", self.folder)
        screen.see(r"^q quit")

    def test_ascii_and_no_colour_where_that_is_asked_for(self):
        screen = Screen(self, 100, 24, self.folder, env={"LC_ALL": "C", "NO_COLOR": "1"})
        screen.see(r"job\.py:13 in load .*unbounded-growth")
        self.assertTrue(screen.text().isascii(), screen.text())
        self.assertNotRegex(screen.text("-e"), r"\x1b\[(?:\d+;)*[349][0-7]m")
        screen = Screen(self, 100, 24, self.folder)
        screen.see(r"\x1b\[(?:\d+;)*3[12]m", "-e")

    def test_a_terminal_without_a_cursor_gets_one_picture(self):
        screen = Screen(self, 120, 80, self.folder, env={"TERM": "dumb"})
        screen.see(r"job\.py .* \d+ steps .* running$")
        self.assertEqual(screen.ended(), 0)

    def test_it_takes_no_more_than_a_tenth_of_a_cpu(self):
        screen = Screen(self, 100, 24, "--interval", "0.1", self.folder)
        begin = time.monotonic()
        steps = int(screen.see(r" (\d+) steps .* running$").group(1))
        while int(screen.see(r" (\d+) steps .* running$").group(1)) < steps + 60:
            time.sleep(0.1)
        took = time.monotonic() - begin
        with open("/proc/%d/stat" % screen.pid()) as f:
            fields = f.read().rsplit(") ", 1)[1].split()
        ticks = int(fields[11]) + int(fields[12])
        self.assertLessEqual(ticks / os.sysconf("SC_CLK_TCK"), took / 10 + 0.5)  # the first look, and the start


class OnPaper(JobCase):
    def test_a_pipe_gets_one_picture(self):
        text = self.seep("top", self.folder).stdout.decode()
        self.assertRegex(text, r"(?m)^\S.*job\.py .* \d+ steps .* running$")
        self.assertRegex(text, r"(?m)^  job\.py:13 in load +host ")

    def test_every_process_of_the_job_leads_to_it(self):
        job = int(re.search(r"(?m)^(\d+) +trainer", self.seep("top", "--once", self.folder).stdout.decode()).group(1))
        for pid in (self.job.pid, job):
            done = self.seep("top", "--once", str(pid))
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertRegex(done.stdout.decode(), r"(?m)^%d +trainer +running" % job)
        os.mkdir(self.path(str(job)))
        self.one_line_error(self.seep("top", str(job), cwd=self.dir))  # a folder of that name is meant first


class Once(CiCase):
    def test_a_job_that_has_ended_is_shown_as_it_was(self):
        done = self.seep("top", "--once", self.leak, env=job_env(COLUMNS="120", LC_ALL="C"))
        self.assertEqual((done.status, done.err), (0, ""))
        text = done.stdout.decode("ascii")
        self.assertRegex(text, r"(?m)^\S.*job\.py leak .* 60 steps .* ended$")
        self.assertRegex(text, r"(?m)^  job\.py:10 in load +host +3\.[78] MiB +- +\+6[34]\.\d KiB +0  unbounded-growth$")
        self.assertLessEqual(max(map(len, text.splitlines())), 120)
        narrow = self.seep("top", "--once", self.leak, env=job_env(COLUMNS="80", LC_ALL="C")).stdout.decode("ascii")
        self.assertRegex(narrow, r"(?m)^SPACE +PEAK +LIVE GROWTH/STEP  OF LIMIT +FULL IN  OVER TIME$")
        self.assertRegex(narrow, r"(?m)^PID .* RSS PEAK .*\n\d+ .* exit 0 +\d\S* MiB ")
        self.assertRegex(narrow, r"(?m)^LINES .* PEAK GROWTH/STEP >FINDING$")
        self.assertRegex(narrow, r"(?m)^ .*job\.py:10 .* 3\.[78] MiB +\+6[34]\.\d KiB  unbounded-growth$")

    def test_where_nothing_is_readable_it_says_so(self):
        for about, folder in self.spoiled():
            if about != "cut":  # of which something may be left
                self.cannot("top", folder, about=about)
        self.assertIn("does not belong to a job under seep, but `seep look %d` shows what it holds" % os.getpid(),
                      self.cannot("top", str(os.getpid())))
        self.assertIn("no such process", self.cannot("top", "4194305"))

    def test_wrong_usage_is_told(self):
        for args in ((), ("a", "b"), ("--interval", "0", "x"), ("--interval", "1s", "x"), ("--interval",), ("--walk",)):
            self.cannot("top", *args)

    def test_output_that_nobody_takes_is_an_error(self):
        for args in (("--once",), ()):
            with open("/dev/full", "w") as full:
                done = subprocess.run([SEEP, "top", *args, self.leak], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
