"""docs/ci.md: its examples work unchanged."""
import json
import os
import shutil
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from tests.cli.ci_jobs import ROOT, SCHEMAS, SEEP, CiCase, job_env, validate
from tests.pages import blocks


PAGE = (ROOT / "docs/ci.md").read_text()


class Documented(CiCase):
    def setUp(self):
        super().setUp()
        self.project = self.path("project")
        os.makedirs(os.path.join(self.project, "ci"))
        for name, language in (("ci/memory.sh", "sh"), ("seep.toml", "toml")):
            found = blocks(PAGE, language)
            self.assertEqual(len(found), 1, language)
            self.write(name, found[0])
        shutil.copy(os.path.join(self._root, "job.py"), os.path.join(self.project, "train.py"))

    def write(self, name, text):
        with open(os.path.join(self.project, name), "w") as f:
            f.write(text)

    def script(self, *job, **env):
        return self.command(["sh", "ci/memory.sh", *job], cwd=self.project, env=job_env(SEEP=SEEP, **env))

    def test_the_script_holds_and_leaves_its_files(self):
        done = self.script(sys.executable, "train.py", "fixed")
        self.assertEqual((done.status, done.err), (0, ""), repr(done))
        memory = os.path.join(self.project, "memory")
        self.assertEqual(sorted(os.listdir(memory)), ["profile.d", "seep.md", "seep.sarif", "seep.xml"])
        suite = ElementTree.parse(os.path.join(memory, "seep.xml")).getroot().find("testsuite")
        self.assertEqual(suite.get("failures"), "0")
        self.assertEqual(len(suite.findall("testcase")), 7, "every budget of seep.toml")
        with open(os.path.join(memory, "seep.sarif")) as f:
            self.assertEqual(validate(SCHEMAS / "sarif.schema.json", json.load(f)), [])

    def test_the_script_fails_for_a_leak(self):
        done = self.script(sys.executable, "train.py", "leak")
        self.assertEqual(done.status, 1, repr(done))
        self.assertIn("train.py", done.stdout.decode())
        self.assertTrue(os.path.exists(os.path.join(self.project, "memory/seep.sarif")))

    def test_the_script_takes_a_baseline(self):
        self.assertEqual(self.script(sys.executable, "train.py", "fixed", MEMORY_OUT="base").status, 0)
        base = os.path.join("base", "profile.d")
        done = self.script(sys.executable, "train.py", "fixed", MEMORY_BASELINE=base)
        self.assertEqual(done.status, 0, repr(done))
        self.assertIn("nothing new or grown since the baseline", done.stdout.decode())
        done = self.script(sys.executable, "train.py", "leak", MEMORY_BASELINE=base)
        self.assertEqual(done.status, 1, repr(done))

    def test_the_script_ends_with_the_status_of_a_job_that_fails(self):
        self.assertEqual(self.script("sh", "-c", "exit 7").status, 7)

    def test_the_script_says_2_for_what_cannot_be_judged(self):
        done = self.script(sys.executable, "train.py", "fixed", "--steps", "20")
        self.assertEqual(done.status, 2, repr(done))
        self.assertIn("min_steps", done.err)


if __name__ == "__main__":
    unittest.main()
