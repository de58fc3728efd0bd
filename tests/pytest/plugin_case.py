"""Runs pytest with seep's plugin: with SEEP_PYTEST, by that interpreter, and by Debian's otherwise."""
import os
import subprocess
import textwrap
import xml.etree.ElementTree

from tests.e2e.support import MODULES, SYSTEM_PYTHON, SeepCase, job_env

PYTHON = os.environ.get("SEEP_PYTEST", SYSTEM_PYTHON)


def pytest_has(module):
    return subprocess.run([PYTHON, "-c", "import " + module], stderr=subprocess.DEVNULL).returncode == 0


class PluginCase(SeepCase):
    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write("import pytest\n" + textwrap.dedent(text).lstrip("\n"))

    def pytest(self, *args, status=None, **env):
        """Runs pytest in the test's folder; self.results is {test: (outcome, text)} of its JUnit file."""
        command = [PYTHON, "-m", "pytest", "-p", "seep.pytest_plugin", "-p", "no:cacheprovider", "--junitxml=out.xml"]
        done = subprocess.run(command + list(args), cwd=self.dir, env=job_env(PYTHONPATH=MODULES, **env), timeout=300,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.out = done.stdout
        if status is not None:
            self.assertEqual(done.returncode, status, self.out)
        self.results = {}
        if os.path.exists(self.path("out.xml")):
            for case in xml.etree.ElementTree.parse(self.path("out.xml")).iter("testcase"):
                verdicts = [e for e in case if e.tag in ("failure", "error", "skipped")]
                self.results[case.get("name")] = (verdicts[0].tag if verdicts else "passed",
                                                  "".join(e.text or "" for e in verdicts))
        return done

    def outcome(self, name):
        self.assertIn(name, self.results, self.out)
        return self.results[name][0]

    def text(self, name):
        return self.results[name][1]
