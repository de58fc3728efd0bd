"""LAB=0: seep can be built, installed and tested where nothing is that only seep-lab needs."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from tests.structure.sources import ROOT

OF_THE_LAB = re.compile(r"\bkernels/|-ljpeg|-lpng|-lzip|\bseep-lab|\bliblab|-lcudart|\bnvcc|\bseep-kernels|\binclude/seep/")
PACKAGES = {"libjpeg-dev", "libpng-dev", "libzip-dev"}


def run(*command, **variables):
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "LAB")}
    return subprocess.run(command, cwd=ROOT, env=dict(env, **variables), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=True)


def of_the_lab(lab, *targets):
    """What a build of everything would do, as far as it is about the lab."""
    with tempfile.TemporaryDirectory() as build:
        planned = run("make", "-n", "LAB=%d" % lab, "BUILD=%s/b" % build, *targets).stdout
    assert "viewer/main.c" in planned
    return set(OF_THE_LAB.findall(planned))


class WithoutLab(unittest.TestCase):
    def test_nothing_of_the_lab_is_built_installed_or_linked(self):
        targets = "all", "install", "tests"
        self.assertLessEqual({"kernels/", "-ljpeg", "-lpng", "-lzip", "seep-lab", "liblab", "seep-kernels", "include/seep/"}, of_the_lab(1, *targets))
        self.assertEqual(of_the_lab(0, *targets), set())

    def test_no_suite_that_is_run_needs_it(self):
        for lab, expected in ((1, True), (0, False)):
            planned = run("make", "-n", "LAB=%d" % lab, "check").stdout
            suites = re.findall(r"\S+/tests/\S+|tests/\S+\.py\b", planned)
            self.assertIn("tests/cli/test_check.py", suites)
            self.assertEqual(any("/kernels/" in s or "/test_lab" in s for s in suites), expected, lab)

    def test_bootstrap_asks_for_no_package_of_it(self):
        """On a machine on which nothing is installed, and nothing can be: the package manager is a stand-in."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("dpkg-query", "exit 1"), ("apt-cache", ""), ("apt-get", ""), ("sudo", 'exec "$@"')):
                path = pathlib.Path(folder) / name
                path.write_text("#!/bin/sh\n%s\n" % text)
                path.chmod(0o755)
            path = folder + ":" + os.environ["PATH"]
            for arguments, variables, asked in ((["help"], {}, PACKAGES), (["help"], {"LAB": "0"}, set()),
                                                (["help", "LAB=0"], {}, set())):
                said = run("./bootstrap", *arguments, PATH=path, DEPS="yes", **variables).stderr
                wanted = set(re.search(r"installing (.*) \(", said)[1].split())
                self.assertIn("libjansson-dev", wanted)
                self.assertEqual(wanted & PACKAGES, asked, (arguments, variables))


if __name__ == "__main__":
    unittest.main()
