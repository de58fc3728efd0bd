"""What the job sees of the shim: the functions of hooks.def and of seep.h, all of them and nothing else."""
import os
import re
import shutil
import subprocess
import unittest

from tests.e2e.support import ROOT, SHIM, needs

HOOKS = ROOT / "libprof/format/hooks.def"
HEADER = ROOT / "preload/seep.h"
ANNOUNCED = {"seep_step", "seep_epoch", "seep_holders", "seep_block_made", "seep_block_gone", "seep_space_capacity",
             "seep_block_refused"}


def hooks():
    return re.findall(r"^SEEP_HOOK\((\w+),", HOOKS.read_text(), re.M)


def symbols(*options):
    """[(name as it stands, with its version, if any)] of the shim's dynamic symbols."""
    out = subprocess.run(["nm", "-D", *options, SHIM], stdout=subprocess.PIPE, check=True, text=True).stdout
    return [line.split()[-1] for line in out.splitlines() if line.strip()]


@needs(shutil.which("nm"), "no nm")
class Exports(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.assertTrue(os.path.exists(SHIM), "%s is missing: run make first" % SHIM)

    def test_each_hook_is_listed_once(self):
        names = hooks()
        self.assertEqual(sorted(names), sorted(set(names)))
        self.assertEqual(len(names), HOOKS.read_text().count("SEEP_HOOK(") - 1, "a line that reads otherwise")

    def test_the_job_sees_the_hooks_and_the_functions_of_the_header_and_nothing_else(self):
        expected, exported = set(hooks()) | ANNOUNCED, set(symbols("--defined-only"))
        self.assertEqual(expected - exported, set(), "in the list, but no such function is exported")
        self.assertEqual(exported - expected, set(), "in the job's way, but not in hooks.def or seep.h")

    def test_no_name_has_a_version_that_would_hide_it(self):
        self.assertEqual([name for name in symbols("--defined-only") if "@" in name], [])

    def test_what_the_header_calls_is_exported(self):
        called = set(re.findall(r'SEEP_(?:LOAD|DEFINE)_\("?(seep_\w+)', HEADER.read_text()))
        self.assertEqual(called, ANNOUNCED)


if __name__ == "__main__":
    unittest.main()
