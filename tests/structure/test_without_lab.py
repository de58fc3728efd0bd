"""seep is built and installed, and with LAB=0 tested, where nothing is that only seep-lab needs."""
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
        planned = run("make", "-n", "LAB=%d" % lab, "BUILD=%s/b" % build,
                      *(target.replace("BUILD/", "%s/b/" % build) for target in targets)).stdout
    assert "viewer/main.c" in planned
    return set(OF_THE_LAB.findall(planned))


class WithoutLab(unittest.TestCase):
    def test_seep_is_built_and_installed_without_it(self):
        for lab in 0, 1:
            self.assertEqual(of_the_lab(lab, "all", "install", "demo"), set())

    def test_unit_tests_of_seep_are_built_without_it(self):
        self.assertEqual(of_the_lab(1, "all", "BUILD/tests/verdict/test_patterns"), set())

    def test_the_lab_and_all_tests_have_it(self):
        built = {"kernels/", "-ljpeg", "-lpng", "-lzip", "seep-lab", "liblab", "include/seep/"}
        self.assertLessEqual(built, of_the_lab(1, "lab"))
        self.assertLessEqual(built, of_the_lab(1, "tests"))
        self.assertLessEqual(built | {"seep-kernels"}, of_the_lab(1, "install-lab"))
        self.assertEqual(of_the_lab(0, "all", "tests"), set())

    def test_what_was_built_of_it_is_installed(self):
        with tempfile.TemporaryDirectory() as build:
            for built in False, True:
                if built:
                    pathlib.Path(build, "seep-lab").touch()
                planned = run("make", "-n", "BUILD=" + build, "install", "PREFIX=/prefix").stdout
                self.assertEqual("%s/seep-lab /prefix/bin/" % build in planned, built)

    def test_no_suite_that_is_run_needs_it(self):
        for lab, expected in ((1, True), (0, False)):
            planned = run("make", "-n", "LAB=%d" % lab, "check").stdout
            suites = re.findall(r"\S+/tests/\S+|tests/\S+\.py\b", planned)
            self.assertIn("tests/cli/test_check.py", suites)
            self.assertEqual(any("/kernels/" in s or "/test_lab" in s for s in suites), expected, lab)

    def test_bootstrap_asks_for_its_packages_only_where_it_is_built(self):
        """On a machine on which nothing is installed, and nothing can be: the package manager is a stand-in."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("dpkg-query", "exit 1"), ("apt-cache", ""), ("apt-get", ""), ("sudo", 'exec "$@"')):
                path = pathlib.Path(folder) / name
                path.write_text("#!/bin/sh\n%s\n" % text)
                path.chmod(0o755)
            path = folder + ":" + os.environ["PATH"]
            for arguments, variables, asked in ((["-n"], {}, set()), (["-n", "lab"], {}, PACKAGES), (["-n", "check"], {}, PACKAGES),
                                                (["-n", "check"], {"LAB": "0"}, set()), (["-n", "check", "LAB=0"], {}, set())):
                said = run("./bootstrap", *arguments, PATH=path, DEPS="yes", **variables).stderr
                wanted = set(re.search(r"installing (.*) \(", said)[1].split())
                self.assertIn("libjansson-dev", wanted)
                self.assertEqual(wanted & PACKAGES, asked, (arguments, variables))


if __name__ == "__main__":
    unittest.main()
