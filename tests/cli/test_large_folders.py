"""What is made of a profile with very many sites fits beside the job: `seep report`, with all sites and their course as JSON,
takes at most four times what the profile's folder takes, and time in proportion."""
import os
import re
import shutil
import subprocess
import unittest

from tests.e2e.support import NO_LOOKS, SEEP, SYSTEM_PYTHON, SeepCase, needs

MiB = 1 << 20
PROGRAM = 32 * MiB  # seep, its libraries, and what a report has of any job

# As many different stacks as asked for, 20 calls deep, with a block each; then blocks of a third of them are made anew in each
# of some rounds of the main loop, which are steps.
STACKS = """
import sys

def left(depth, path):
    return bytearray(600) if depth == 0 else (left if path & 1 else right)(depth - 1, path >> 1)

def right(depth, path):
    return bytearray(600) if depth == 0 else (right if path & 1 else left)(depth - 1, path >> 1)

n, rounds = int(sys.argv[1]), int(sys.argv[2])
kept = [left(19, path) for path in range(n)]
for k in range(rounds):
    for path in range(k % 3, n, 3):
        kept[path] = [left(19, path), kept[path] if k % 7 == 0 else None]
"""

# A process of its own: the peak of one that Python starts begins with that of the Python that starts it.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""

# What they may take, in folders. A page is made beside the model, and a profile of blocks of one period has 160 bytes a site.
REPORT, PAGE = 4, 8
COMMANDS = {"report": (REPORT, ["report"]), "all sites": (REPORT, ["report", "--all", "--series", "--format", "json"]),
            "view": (PAGE, ["view", "-o", "/dev/null"]), "view --all": (PAGE, ["view", "--all", "-o", "/dev/null"])}


def bytes_of(folder):
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))


def peak_of(command):
    done = subprocess.run([SYSTEM_PYTHON, "-S", "-E", "-c", PEAK, SEEP, *command], capture_output=True, text=True, check=True)
    return int(done.stdout)


class LargeFolders(SeepCase):
    def profile(self, n, rounds):
        with open(self.path("stacks.py"), "w") as f:
            f.write(STACKS)
        return self.run_seep([SYSTEM_PYTHON, self.path("stacks.py"), str(n), str(rounds)], [*NO_LOOKS, "--no-report"],
                             timeout=300).folder

    def test_the_memory_is_in_proportion_to_the_folder(self):
        for rounds in 0, 30:
            small, large = self.profile(10_000, rounds), self.profile(40_000, rounds)
            more = bytes_of(large) - bytes_of(small)
            for name, (times, command) in COMMANDS.items():
                with self.subTest(command=name, rounds=rounds):
                    before, after = peak_of([*command, small]), peak_of([*command, large])
                    self.assertLess(after, times * bytes_of(large) + PROGRAM)
                    self.assertLess(after - before, times * more)

    @needs(shutil.which("valgrind"), "valgrind is not installed")
    def test_the_instructions_are_in_proportion_to_the_sites(self):
        profiles = [self.profile(n, 0) for n in (500, 1000, 2000)]
        for name, (_, command) in COMMANDS.items():
            with self.subTest(command=name):
                few, twice, four_times = (self.instructions_of([*command, p]) for p in profiles)
                self.assertLess(four_times - twice, 1.4 * 2 * (twice - few))

    def instructions_of(self, command):
        done = self.command(["valgrind", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null", SEEP,
                             *command], timeout=300)
        counts = [int(n) for n in re.findall(rb"Collected : (\d+)", done.stderr)]
        self.assertTrue(counts, repr(done))
        return sum(counts)


if __name__ == "__main__":
    unittest.main()
