"""Programs that inspect their surroundings (tests/subjects/as_plain): under seep they see the same as without it,
whether copies of them are made when seep thinks so, at steps that the user names, or never."""
import concurrent.futures
import json
import os
import subprocess
import tempfile
import unittest

from tests.e2e.support import MODULES, ROOT, SEEP, SOURCES, SYSTEM_PYTHON, job_env

FOLDER = SOURCES / "as_plain"
THEMES = ("files", "children", "limits")
MODES = ("auto", "2,6,38", "off")
WITHOUT_STEPS = "auto, without steps"
# Where copies are due by time, too: each takes a second and a half then, so one of each kind of what a copy may hold,
# be met by, or break.
BY_TIME = frozenset((
    "flock_of_a_mapped_file", "seal_of_a_memory_file", "shared_segment_has_no_other_users",
    "scratch_file_that_is_removed_is_given_back", "pipe_ends_with_its_last_writer", "port_is_free_once_it_is_closed",
    "folder_of_a_worker_can_go", "mount_of_a_worker_can_go", "nobody_to_wait_for", "wait_meets_only_its_own",
    "ends_are_told_once", "supervisor_hears_of_its_workers_alone", "orphan_knows_its_new_parent",
    "group_is_empty_when_its_only_process_has_ended", "command_is_not_found_once_it_has_ended",
    "program_that_follows_has_no_children", "times_of_children_are_small", "ends_by_abort", "little_address_space",
    "huge_pages_stay_huge", "signals_stay_blocked_and_pending", "interrupted_sleep_is_as_long", "first_of_a_namespace",
    "network_of_a_worker_can_go", "events_of_page_faults"))
PATIENCE = 120
PYTHON = [SYSTEM_PYTHON, "-S", "-B"]


def modes_of(name):
    return (*MODES, WITHOUT_STEPS) if name in BY_TIME else MODES


def run(argv, folder, **variables):
    """Exit status as a shell has it, output, errors."""
    env = job_env(PYTHONPATH=MODULES, TMPDIR=folder, **variables)
    p = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
                       timeout=PATIENCE, env=env, start_new_session=True)
    return p.returncode if p.returncode >= 0 else 128 - p.returncode, p.stdout, p.stderr


def job(theme, name):
    return [*PYTHON, str(FOLDER / (theme + ".py")), name]


def under_seep(theme, name, mode, folder):
    """How it ends, and how often it was looked at meanwhile."""
    profile = os.path.join(folder, "profile.d")
    by_time = {"WITHOUT_STEPS": "1"} if mode == WITHOUT_STEPS else {}
    end = run([SEEP, "run", "-q", "-o", profile, "--holders", mode.split(",")[0] if by_time else mode, "--",
               *job(theme, name)], folder, **by_time)
    with open(os.path.join(profile, "report.json")) as f:
        report = json.load(f)
    if by_time and any(p["steps"] for p in report["processes"]):
        raise AssertionError("%s has steps" % name)
    return end, report["coverage"]["holders"]["taken"]


def all_ways(theme, name):
    """How it ends without seep, and in each mode; and where it was looked at."""
    found, looked_at = {}, set()
    with tempfile.TemporaryDirectory(prefix="seep-test-") as folder:
        found["plain"] = run(job(theme, name), folder)
    for mode in modes_of(name):
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
        for mode in (*MODES, WITHOUT_STEPS):
            found = [self.found[name].result()[1] for name in self.found if mode in modes_of(name)]
            n = sum(mode in looked_at for looked_at in found)
            self.assertTrue(n == 0 if mode == "off" else n > len(found) / 2, (mode, n, len(found)))


def add_test(cls, name):
    def test(self):
        found, _ = self.found[name].result()
        for mode in modes_of(name):
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
