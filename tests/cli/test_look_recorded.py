"""`seep look` at processes under `seep run`: each holder with the lines of code that made its memory."""
import os
import pathlib
import subprocess
import sys
import unittest

from tests.cli.look_case import LookCase
from tests.e2e.support import SEEP, needs_to_read_children

JOB = '''
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
libc.malloc.restype = ctypes.c_void_p
def fill_first(to):
    for _ in range(200):
        to.append(bytes(20000))  # FIRST
def fill_second(to):
    for _ in range(100):
        to.append(bytearray(50000))  # SECOND
def lose():
    for _ in range(100):
        ctypes.memset(libc.malloc(40000), 1, 40000)  # LOST
def main():
    first, second, mixed = [], [], []
    fill_first(first)
    fill_second(second)
    fill_first(mixed)
    fill_second(mixed)
    lose()
    if len(sys.argv) > 1 and os.fork() == 0:
        fill_second(first)
        print(os.getpid(), flush=True)
        sys.stdin.read()
        os._exit(0)
    if len(sys.argv) > 1:
        os.wait()
    else:
        print(os.getpid(), flush=True)
        sys.stdin.read()
    print(sum(map(len, first + second + mixed)))
main()
'''

FIRST, SECOND, LOST = 200 * 20000, 100 * 50000, 100 * 40000


@needs_to_read_children
class LookRecorded(LookCase):
    def start(self, *arguments):
        with open(self.path("job.py"), "w", encoding="utf-8") as f:
            f.write(JOB)
        self.job = subprocess.Popen([SEEP, "run", "-q", "--no-report", "-o", self.path("out"), "--", sys.executable,
                                     self.path("job.py"), *arguments],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.addCleanup(lambda: self.job.stdin.closed or self.job.communicate())
        return int(self.job.stdout.readline())

    def line(self, mark):
        return 1 + [mark in line for line in JOB.splitlines()].index(True)

    def made_at(self, document, text):
        """{line of the job: bytes} of the holder with that path."""
        holder = next(h for h in document["holders"] if text in h["path"]["text"])
        lines = holder["made_at"]
        self.assertEqual(lines, sorted(lines, key=lambda line: -line["bytes"]))
        self.assertLessEqual(sum(line["bytes"] for line in lines), holder["retained_bytes"])
        return {line["frame"]["line"]: line["bytes"] for line in lines if line["frame"]["file"] == self.path("job.py")}

    def about(self, lines, expected):
        """Besides these only what grew a list: 8 bytes for each item."""
        for line, bytes_ in expected.items():
            self.assertAlmostEqual(lines.get(line, 0), bytes_, delta=0.03 * bytes_)
        self.assertLess(sum(lines.values()), 1.03 * sum(expected.values()))

    def test_each_way_to_look_tells_the_lines_that_made_what_a_variable_holds(self):
        pid, first, second = self.start(), self.line("# FIRST"), self.line("# SECOND")
        for way in ("--copy", "--stop", "--live"):
            with self.subTest(way):
                document = self.look(way, pid)
                self.about(self.made_at(document, "'first' of main()"), {first: FIRST})
                self.about(self.made_at(document, "'second' of main()"), {second: SECOND})
                self.about(self.made_at(document, "'mixed' of main()"), {first: FIRST, second: SECOND})

    def test_lost_blocks_are_told_with_the_line_that_lost_them(self):
        pid = self.start()
        self.about(self.made_at(self.look(pid), "nobody (blocks of 32.0 KiB and more)"), {self.line("# LOST"): LOST})

    def test_the_text_has_the_lines_below_each_holder(self):
        done = subprocess.run([SEEP, "look", str(self.start())], capture_output=True, text=True)
        said = r"\n4\.8 MiB  local 'second' of main\(\) \(list\): length 100\n    made at %s:%d in fill_second: 4\.8 MiB\n"
        self.assertRegex(done.stdout, said % (self.path("job.py"), self.line("# SECOND")))

    def test_seeps_own_memory_is_not_the_jobs(self):
        own = self.look(self.start())["looks"][0]["live_bytes"]
        plain = subprocess.Popen([sys.executable, self.path("job.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 text=True, encoding="utf-8")
        self.addCleanup(plain.communicate)
        without = self.look(int(plain.stdout.readline()))
        self.assertLess(abs(own - without["looks"][0]["live_bytes"]), 300 << 10)
        self.assertEqual({h["made_at"] for h in without["holders"]}, {None})

    def test_a_forked_child_knows_the_lines_of_what_it_inherited(self):
        document = self.look(self.start("fork"))
        self.about(self.made_at(document, "'first' of main()"),
                   {self.line("# FIRST"): FIRST, self.line("# SECOND"): SECOND})

    def test_lines_of_several_processes_are_added_up(self):
        self.start("fork")
        with open("/proc/%d/task/%d/children" % (self.job.pid, self.job.pid)) as f:
            top = next(pid for pid in f.read().split() if b"job.py" in pathlib.Path("/proc", pid, "cmdline").read_bytes()
                       and not pathlib.Path("/proc", pid, "cmdline").read_bytes().startswith(os.fsencode(str(SEEP))))
        tree = self.look("--tree", top)["tree"]
        self.about(self.made_at(tree, "'first' of main()"), {self.line("# FIRST"): 2 * FIRST, self.line("# SECOND"): SECOND})

    def test_the_job_and_its_profile_are_as_without_a_look(self):
        pid = self.start()
        files = {p: p.read_bytes() for p in pathlib.Path(self.path("out")).glob("*.seep")}
        for way in ("--copy", "--stop", "--live") * 2:
            self.look(way, pid)
        self.assertEqual({p for p in pathlib.Path(self.path("out")).glob("*.seep")}, set(files))
        rest, _ = self.job.communicate()
        self.assertEqual((rest, self.job.returncode), ("%d\n" % (2 * (FIRST + SECOND)), 0))

    def test_without_its_profile_the_holders_are_told_alone(self):
        pid = self.start()
        for profile in pathlib.Path(self.path("out")).glob("*.seep"):
            profile.unlink()
        document = self.look(pid)
        self.assertEqual({h["made_at"] for h in document["holders"]}, {None})
        self.assertTrue([h for h in document["holders"] if "'first' of main()" in h["path"]["text"]])


if __name__ == "__main__":
    unittest.main()
