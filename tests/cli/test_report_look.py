"""`seep report` and the summary of `seep run` on terminals of six sizes: nothing is wider than they are, and what a window
shows at its bottom is the answer. Colour is where it is wanted."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
import unittest

from tests.cli.ci_jobs import CiCase
from tests.e2e.support import SEEP, job_env

SIZES = ((60, 20), (80, 24), (100, 30), (120, 40), (140, 50), (200, 60))
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class TerminalCase(CiCase):
    def on_a_terminal(self, columns, rows, *args, **variables):
        """What a command writes to a terminal of that size."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        parts = []

        def read():
            try:
                while part := os.read(ours, 1 << 16):
                    parts.append(part)
            except OSError:  # nobody has it open any more
                pass

        reader = threading.Thread(target=read)
        reader.start()
        env = job_env(**{"TERM": "xterm-256color", "NO_COLOR": None, "COLUMNS": None, **variables})
        done = subprocess.run([SEEP, *args], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env, cwd=self.dir)
        os.close(theirs)
        reader.join()
        os.close(ours)
        self.assertIn(done.returncode, (0, 1))
        return b"".join(parts).decode().replace("\r\n", "\n")


class Sizes(TerminalCase):
    def hold(self, text, columns, rows):
        lines = ESCAPE.sub("", text).splitlines()
        for line in lines:
            whole = max(map(len, line.split()), default=0)  # a path is not broken
            self.assertLessEqual(len(line), max(columns, whole + 22), line)
        shown = "\n".join(lines[-rows:])
        self.assertRegex(shown, r"(?m)^seep: \d findings? in 60 steps$")
        self.assertRegex(shown, r"(?m)^F1  leak       .*\+6\d\.\d KiB/step +job\.py:10( in load)?$")
        self.assertRegex(lines[-1], r"^In a browser: seep view \S+$")

    def test_a_report_fits_every_terminal(self):
        for columns, rows in SIZES:
            with self.subTest(columns=columns, rows=rows):
                self.hold(self.on_a_terminal(columns, rows, "report", self.leak), columns, rows)

    def test_the_summary_of_a_run_fits_too(self):
        text = self.on_a_terminal(80, 24, "run", "-o", "here.d", "--", "python3", "-c", "print(1)")
        self.assertRegex(ESCAPE.sub("", text), r"\nseep: too short to tell in \d+ time slices?\nGrowth shows (.*\n)+"
                                               r"details  seep report \S*here\.d \(in a browser: seep view\)\n\Z")

    def test_several_folders_are_no_page(self):
        self.assertNotIn(b"seep view", self.seep("report", self.leak, self.leak).stdout)

    def test_columns_go_before_what_the_terminal_has(self):
        text = ESCAPE.sub("", self.on_a_terminal(200, 24, "report", self.leak, COLUMNS="70"))
        self.assertLessEqual(max(map(len, text.splitlines()[:-1])), 70)


class Colours(TerminalCase):
    def coloured(self, *args, **variables):
        return "\x1b[1;38;5;166mF1" in self.on_a_terminal(100, 30, "report", self.leak, *args, **variables)

    def test_a_terminal_has_them_unless_they_are_unwanted(self):
        self.assertTrue(self.coloured())
        self.assertFalse(self.coloured("--color", "never"))
        self.assertFalse(self.coloured(NO_COLOR="1"))
        self.assertFalse(self.coloured(TERM="dumb"))
        self.assertTrue(self.coloured("--color", "always", NO_COLOR="1"))

    def test_a_pipe_has_them_where_they_are_wanted(self):
        for command in ("report", "check"):
            self.assertNotIn(b"\x1b", self.seep(command, self.leak).stdout)
            self.assertNotIn(b"\x1b", self.seep(command, self.leak, "--color", "auto").stdout)
            self.assertIn(b"\x1b[1;", self.seep(command, self.leak, "--color", "always").stdout)
        self.assertNotIn(b"\x1b", self.seep("report", self.leak, "--color", "always", "--format", "json").stdout)


if __name__ == "__main__":
    unittest.main()
