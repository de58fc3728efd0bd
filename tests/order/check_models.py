"""Models of the live set and of the profile, checked by spin: each holds as it is, and fails when any one of the orders
that it lists is left out. Otherwise the model would say nothing of that order."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def check(model, weaker):
    """What the checker says of all that may happen."""
    with tempfile.TemporaryDirectory() as folder:
        for file in HERE.glob("*.pml"):
            shutil.copy(file, folder)

        def run(*command):
            return subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

        made = run("spin", "-DWEAKER=%d" % weaker, "-a", model)
        made += run("gcc", "-O1", "-w", "-DSAFETY", "-o", "pan", "pan.c")
        if not (pathlib.Path(folder) / "pan").exists():
            raise AssertionError(made)
        return run("./pan", "-m100000")


class Models(unittest.TestCase):
    def hold(self, model, least):
        weaker = [int(n) for n in re.findall(r"^ \* weaker (\d+):", (HERE / model).read_text(encoding="utf-8"), re.M)]
        self.assertGreaterEqual(len(weaker), least)
        found = check(model, 0)
        self.assertRegex(found, r"errors: 0\b")
        self.assertNotIn("max search depth too small", found)
        self.assertGreater(int(re.search(r"(\d+) states, stored", found).group(1)), 1000)
        for n in weaker:
            with self.subTest(model=model, weaker=n):
                self.assertRegex(check(model, n), r"assertion violated")

    def test_the_live_set(self):
        self.hold("live_set.pml", 5)

    def test_the_profile(self):
        self.hold("profile.pml", 7)


if __name__ == "__main__":
    unittest.main()
