"""The contracts that SEEP_CHECK() holds (libprof/contract.h), the order of locks above all, while threads, forks, the loader
and signals meet: suites of whole jobs once more, with a library that traps where one is broken."""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from tests.e2e.support import ROOT, SEEP, SeepCase, needs

CHECKED = pathlib.Path(SEEP).parent / "debug/libseep.so"
SUITES = ["tests.e2e." + name for name in ("test_contexts", "test_fork", "test_loader", "test_loader_rule", "test_thread_slots")]


class Checked(SeepCase):
    @needs(CHECKED.exists(), "there is no checked library: make DEBUG=1 %s" % os.path.relpath(CHECKED, ROOT))
    def test_no_contract_is_broken_where_threads_forks_and_the_loader_meet(self):
        names = subprocess.run(["nm", CHECKED], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.assertIn(" seep_os_ranks_held\n", names, "the library of DEBUG=1 checks nothing")
        built, here = pathlib.Path(SEEP).parent, pathlib.Path(self.dir)
        for name in ("seep", "seep-show"):
            shutil.copy(built / name, here)
        shutil.copytree(built / "python", here / "python")
        shutil.copy(CHECKED, here)
        done = subprocess.run([sys.executable, "-m", "unittest", *SUITES], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, SEEP=str(here / "seep"), SEEP_SUBJECTS=str(built / "subjects")))
        self.assertEqual(done.returncode, 0, done.stdout.decode(errors="replace"))


if __name__ == "__main__":
    unittest.main()
