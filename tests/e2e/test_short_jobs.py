"""What seep costs where a job is short, in counts that no busy machine changes: system calls, page faults, libraries and
instructions. tests/bench/results has the milliseconds."""
import collections
import os
import re
import shutil
import unittest

from tests.e2e.support import SEEP, SYSTEM_PYTHON, SeepCase, needs

# Made as often as looks at the job are due, thus more often on a slower machine: read, close, getpid, mincore,
# clock_gettime, openat, process_vm_readv.
PACED = {0, 3, 39, 27, 228, 257, 310}
PASS = [SYSTEM_PYTHON, "-c", "pass"]
TRUE = ["sh", "-c", "/bin/true; /bin/true"]
RUNS = 4

Program = collections.namedtuple("Program", "faults calls")


class ShortJobs(SeepCase):
    def programs(self, argv, but=()):
        """{name: Program} of all that the command runs; of several of a name the last."""
        done = self.command([self.subject("count_calls"), *argv])
        self.assertEqual(done.status, 0, repr(done))
        found = {}
        for line in done.stdout.decode().splitlines():
            name, faults, *calls = line.split()
            by_number = (map(int, call.split(":")) for call in calls)
            found[name] = Program(int(faults), sum(n for number, n in by_number if number not in but))
        return found

    def both(self, argv, name, but=()):
        """The program without seep and under it, and `seep run` itself: the least of several runs, for one that has to
        wait for a CPU is looked at more often."""
        plain = self.programs(argv, but)[name]
        runs = [self.programs([SEEP, "run", "-q", "--no-report", "-o", self.fresh(), "--", *argv], but)
                for _ in range(RUNS)]
        seep, run = (Program(*map(min, zip(*(found[who] for found in runs)))) for who in (name, "seep"))
        return plain, seep, run

    def test_a_helper(self):
        plain, seep, _ = self.both(TRUE, "true")
        self.assertLessEqual(seep.calls - plain.calls, 40)  # 32
        self.assertLessEqual(seep.faults - plain.faults, 40)  # 32

    def test_an_interpreter(self):
        name = os.path.basename(SYSTEM_PYTHON)
        plain, seep, run = self.both(PASS, name, PACED)
        self.assertLessEqual(seep.calls - plain.calls, 130)
        self.assertLessEqual(seep.faults - plain.faults, 600)  # 535; 770 where tables came page by page
        self.assertLessEqual(run.calls, 165)  # 141
        self.assertLessEqual(run.faults, 240)  # 200, and 490 with the libraries of `view` and `top`

    def test_no_library_is_loaded_for_commands_that_are_not_run(self):
        done = self.command([SEEP, "--version"], env={"LD_TRACE_LOADED_OBJECTS": "1"})
        self.assertNotRegex(done.stdout.decode(), "ncurses|libtinfo|microhttpd|gnutls|tomlplusplus|protobuf")
        self.assertIn("libc.so", done.stdout.decode())

    def test_a_job_that_only_imports_is_not_looked_at(self):
        """However slow: reading it would take as long again."""
        folder = self.path("site-packages")
        os.mkdir(folder)
        with open(os.path.join(folder, "slow.py"), "w") as f:
            f.write("import time\n\nkept = []\nfor i in range(25):\n    kept.append(bytearray(300000))\n"
                    "    exec('def f%d(): pass' % i)\n    time.sleep(0.1)\n")
        self.assertTrue(any(not self.is_looked_at(folder, "import slow") for _ in range(3)))  # a machine may pause for a second
        self.assertTrue(self.is_looked_at(folder, "exec(open(sys.path[0] + '/slow.py').read())"))

    def is_looked_at(self, folder, job):
        run = self.run_seep([SYSTEM_PYTHON, "-c", "import sys; sys.path.insert(0, %r); %s" % (folder, job)])
        return any(name.startswith("holders") for name in os.listdir(run.folder))

    @needs(shutil.which("valgrind"), "no valgrind")
    def test_instructions_of_a_report(self):
        """All of them, for each byte of report.json; also where libc's debug information is installed."""
        folder, report = self.fresh(), self.path("report.json")
        self.run_seep(PASS, ["--no-report"], folder=folder)
        done = self.command(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", SEEP, "report", folder,
                             "--format", "json", "-o", report], timeout=300)
        self.assertEqual(done.status, 0, repr(done))
        spent = int(re.search(r"Collected : (\d+)", done.err)[1])
        # 108; 409 with the lines of libc, and 152 where fwrite() is called for each piece
        self.assertLessEqual(spent / os.path.getsize(report), 125)


if __name__ == "__main__":
    unittest.main()
