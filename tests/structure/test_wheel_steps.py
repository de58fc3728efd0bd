"""`make wheel` says what it does: its steps are numbered without a gap, and the last line has the wheel's true size."""
import pathlib
import re
import subprocess
import tempfile
import unittest

WHEEL = pathlib.Path(__file__).resolve().parents[2] / "packaging/wheel"


def said(*arguments):
    return subprocess.run([WHEEL / "step.sh", *arguments], stdout=subprocess.PIPE, check=True).stdout.decode()


class WheelSteps(unittest.TestCase):
    def test_all_steps_are_said_in_order(self):
        libraries = (WHEEL / "libraries.sh").read_text()
        first, = re.findall(r"^build (\d+) ", libraries, re.M)
        listed, = re.findall(r"^for library in (.*); do$", libraries, re.M)
        steps = [int(n) for n in re.findall(r"\$\(wheel_step\) (\d+) ", (WHEEL / "rules.mk").read_text())]
        steps += range(int(first), int(first) + 1 + len(listed.split()))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "began").touch()
            line = said(folder, "1", "the compiler")
        total = int(re.fullmatch(r"  STEP     1 of (\d+), after 0 min [01] s: the compiler\n", line).group(1))
        self.assertEqual(sorted(steps), list(range(1, total + 1)))

    def test_the_last_line_has_the_size(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "began").touch()
            wheel = pathlib.Path(folder) / "a.whl"
            wheel.write_bytes(bytes(2059046))
            self.assertRegex(said(folder, "end", wheel), r"^  WHEEL    \S+a\.whl: 2059046 bytes, 1\.9 MiB; it took 0 min \d+ s\n$")


if __name__ == "__main__":
    unittest.main()
