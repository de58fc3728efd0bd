"""Programs that look around (tests/subjects/as_plain): under seep they see what they see without, whether copies of
them are made when seep thinks so, at steps that the user names, or never."""
import concurrent.futures
import json
import os
import subprocess
import tempfile
import unittest

from tests.e2e.support import ROOT, SEEP, SOURCES, SYSTEM_PYTHON, job_env

FOLDER = SOURCES / "as_plain"
THEMES = ("files", "children", "limits")
MODES = ("auto", "2,6,38", "off")
PATIENCE = 120
PYTHON = [SYSTEM_PYTHON, "-S", "-B"]


def run(argv, folder):
    """Exit status as a shell has it, output, errors."""
    env = job_env(PYTHONPATH=os.path.join(os.path.dirname(SEEP), "python"), TMPDIR=folder)
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
                       timeout=PATIENCE, env=env, start_new_session=True)
    return p.returncode if p.returncode >= 0 else 128 - p.returncode, p.stdout, p.stderr


def job(theme, name):
    return [*PYTHON, str(FOLDER / (theme + ".py")), name]


def under_seep(theme, name, mode, folder):
    """How it ends, and how often it was looked at meanwhile."""
    profile = os.path.join(folder, "profile.d")
    end = run([SEEP, "run", "-q", "-o", profile, "--holders", mode, "--", *job(theme, name)], folder)
    with open(os.path.join(profile, "report.json")) as f:
        return end, json.load(f)["coverage"]["holders"]["taken"]


def all_ways(theme, name):
    """How it ends without seep, and in each mode; and where it was looked at."""
    found, looked_at = {}, set()
    with tempfile.TemporaryDirectory(prefix="seep-test-") as folder:
        found["plain"] = run(job(theme, name), folder)
    for mode in MODES:
        with tempfile.TemporaryDirectory(prefix="seep-test-") as folder:
            found[mode], taken = under_seep(theme, name, mode, folder)
        if taken:
            looked_at.add(mode)
    return found, looked_at


def names_of(theme):
    done = subprocess.run([*PYTHON, str(FOLDER / (theme + ".py")), "--list"], stdout=subprocess.PIPE, check=True,
                          cwd=str(ROOT), env=job_env())
    return done.stdout.decode().split()


class AsPlain(unittest.TestCase):
    """A class for each theme; programs wait more than they compute, so several go side by side."""

    theme = None

    @classmethod
    def setUpClass(cls):
        if cls.theme is None:
            raise unittest.SkipTest("its themes are")
        with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
            cls.found = {name: pool.submit(all_ways, cls.theme, name) for name in names_of(cls.theme)}

    def test_most_of_them_were_looked_at(self):
        """Otherwise the rest would say nothing. Some end before, or forbid it."""
        for mode in MODES:
            n = sum(mode in found.result()[1] for found in self.found.values())
            self.assertTrue(n == 0 if mode == "off" else n > len(self.found) / 2, (mode, n, len(self.found)))


def add_test(cls, name):
    def test(self):
        found, _ = self.found[name].result()
        for mode in MODES:
            with self.subTest(holders=mode):
                self.assertEqual(found["plain"], found[mode])
    setattr(cls, "test_" + name, test)


for _theme in THEMES:
    _class = type(_theme.capitalize(), (AsPlain,), {"theme": _theme, "__module__": __name__})
    for _name in names_of(_theme):
        add_test(_class, _name)
    globals()[_class.__name__] = _class
del AsPlain, _class

if __name__ == "__main__":
    unittest.main()
