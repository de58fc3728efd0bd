"""What is made of a profile with very many sites fits beside the job: reports, pages, exports and differences of two runs take
at most five times what the profiles' folders take, and time in proportion."""
import os
import re
import shutil
import subprocess
import unittest

from tests.e2e.support import NO_LOOKS, SEEP, SYSTEM_PYTHON, SeepCase, needs

MiB = 1 << 20

# As many different stacks as asked for, 20 calls deep, with a block each, of many sizes; then blocks of a third of them are made anew in each
# of some rounds of another loop.
STACKS = """
import sys

def left(depth, path):
    return bytearray(600 + at % 1400) if depth == 0 else (left if path & 1 else right)(depth - 1, path >> 1)

def right(depth, path):
    return bytearray(600 + at % 1400) if depth == 0 else (right if path & 1 else left)(depth - 1, path >> 1)

n, rounds, at, kept = int(sys.argv[1]), int(sys.argv[2]), 0, []
for at in range(n):
    kept.append(left(19, at))
for k in range(rounds):
    for path in range(k % 3, n, 3):
        kept[path] = [left(19, path), kept[path] if k % 7 == 0 else None]
"""

# A process of its own: the peak of one that Python starts begins with that of the Python that starts it.
PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
assert done.returncode in (0, 2), done  # 2: too short to be judged
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""

TIMES = 5  # what they may take, in folders: 4.5 was measured, of a page and few periods, where a profile has 160 to 310 bytes a site
EXPORTS = "collapsed", "speedscope", "pprof", "perfetto"
COMMANDS = {
    "report": ["report"],
    "all sites": ["report", "--all", "--series", "--format", "json"],
    "all sites as text": ["report", "--all"],
    "view": ["view", "-o", "/dev/null"],
    "view --all": ["view", "--all", "-o", "/dev/null"],
    **{f"export as {name}": ["export", "--format", name, "--measure", "peak", "-o", "/dev/null"] for name in EXPORTS},
}
OF_TWO = {"diff": ["diff"], "diff as JSON": ["diff", "--format", "json"], "view of two": ["view", "-o", "/dev/null"],
          "view --all of two": ["view", "--all", "-o", "/dev/null"], "check --baseline": ["check", "--baseline"]}
LINEAR = {"report", "all sites", "all sites as text", "view --all", "export as speedscope", "diff", "view of two", "check --baseline"}  # valgrind is slow: one of each kind


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

    def test_the_memory_is_in_proportion_to_the_folders(self):
        """Beyond what seep, its libraries and a report of any job take. A profile grows in leaps: its size counts, not its growth."""
        empty = self.profile(1, 0)
        for rounds in 0, 2:
            large = self.profile(40_000, rounds)
            for n_folders, commands in (1, COMMANDS), (2, OF_TWO):
                for name, command in commands.items():
                    with self.subTest(command=name, rounds=rounds):
                        less, more = (peak_of([*command, *[folder] * n_folders]) for folder in (empty, large))
                        self.assertLess(more - less, TIMES * n_folders * (bytes_of(large) - bytes_of(empty)))

    def test_the_memory_has_a_bound(self):
        """Sites that never held much count together; none is left out of the sums."""
        folder = self.profile(1_000_000, 0)
        for command in ["report"], ["view", "-o", "/dev/null"], ["view", "-o", "/dev/null", folder], ["diff", folder]:
            with self.subTest(command=command):
                self.assertLess(peak_of([*command, folder]), 512 * MiB)
        self.assertRegex(self.command([SEEP, "report", folder]).stdout, rb"sites\s+that\s+never\s+held\s+[^:]+\s+are\s+counted\s+together")

    @needs(shutil.which("valgrind"), "valgrind is not installed")
    def test_the_instructions_are_in_proportion_to_the_sites(self):
        profiles = [self.profile(n, 0) for n in (500, 1000, 2000)]
        for n_folders, commands in (1, COMMANDS), (2, OF_TWO):
            for name in LINEAR & commands.keys():
                with self.subTest(command=name):
                    few, twice, four_times = (self.instructions_of([*commands[name], *[p] * n_folders]) for p in profiles)
                    self.assertLess(four_times - twice, 1.4 * 2 * (twice - few))

    def instructions_of(self, command):
        done = self.command(["valgrind", "--tool=callgrind", "--trace-children=yes", "--callgrind-out-file=/dev/null", SEEP,
                             *command], timeout=300)
        counts = [int(n) for n in re.findall(rb"Collected : (\d+)", done.stderr)]
        self.assertTrue(counts, repr(done))
        return sum(counts)


if __name__ == "__main__":
    unittest.main()
