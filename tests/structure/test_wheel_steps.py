"""`make wheel` says what it does: its steps are numbered without a gap, and the last line has the wheel's true size."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

WHEEL = pathlib.Path(__file__).resolve().parents[2] / "packaging/wheel"


def said(*arguments, machine=""):
    return subprocess.run([WHEEL / "step.sh", *arguments], stdout=subprocess.PIPE, check=True,
                          env=dict(os.environ, ZIG_MACHINE=machine)).stdout.decode()


class WheelSteps(unittest.TestCase):
    def test_all_steps_are_said_in_order(self):
        libraries = (WHEEL / "libraries.sh").read_text()
        rules = (WHEEL / "rules.mk").read_text()
        first, = re.findall(r"^build (\d+) ", libraries, re.M)
        listed, = re.findall(r"^for library in (.*); do$", libraries, re.M)
        machines = re.search(r"^WHEEL_MACHINES := (.*)$", rules, re.M).group(1).split()
        steps = [("", n) for n in re.findall(r"^\t@\$\(wheel_step\) (\d+) ", rules, re.M)]
        of_each = [*range(int(first), int(first) + 1 + len(listed.split())),
                   *re.findall(r"^\t@ZIG_MACHINE=\$\* \$\(wheel_step\) (\d+) ", rules, re.M)]
        steps += [(machine, n) for machine in machines for n in of_each]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "began").touch()
            lines = [said(folder, str(n), "the compiler", machine=machine) for machine, n in steps]
        found = [re.fullmatch(r"  STEP     (\d+) of (\d+), after 0 min \d+ s: (?:(\w+): )?the compiler\n", line) for line in lines]
        self.assertEqual([line.group(3) or "" for line in found], [machine for machine, _ in steps])
        self.assertEqual({int(line.group(2)) for line in found}, {len(steps)})
        self.assertEqual(sorted(int(line.group(1)) for line in found), list(range(1, len(steps) + 1)))

    def test_the_last_line_has_the_size(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "began").touch()
            wheel = pathlib.Path(folder) / "a.whl"
            wheel.write_bytes(bytes(2059046))
            self.assertRegex(said(folder, "end", wheel), r"^  WHEEL    \S+a\.whl: 2059046 bytes, 1\.9 MiB; it took 0 min \d+ s\n$")


if __name__ == "__main__":
    unittest.main()
