"""Programs that look around (tests/subjects/as_plain): under seep they see what they see without, whether copies of
them are made when seep thinks so, at steps that the user names, or never."""
import concurrent.futures
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
    return run([SEEP, "run", "-q", "-o", os.path.join(folder, "profile.d"), "--holders", mode, "--", *job(theme, name)],
               folder)


def all_ways(theme, name):
    """How it ends without seep, and in each mode."""
    found = {}
    for mode in ("plain",) + MODES:
        with tempfile.TemporaryDirectory(prefix="seep-test-") as folder:
            found[mode] = run(job(theme, name), folder) if mode == "plain" else under_seep(theme, name, mode, folder)
    return found


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


def add_test(cls, name):
    def test(self):
        found = self.found[name].result()
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
