"""docs/ci.md: its examples work unchanged."""
import json
import os
import re
import shutil
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from tests.cli.ci_jobs import ROOT, SCHEMAS, SEEP, CiCase, job_env, validate
from tests.e2e.support import needs

try:
    import yaml
except ImportError:
    yaml = None


def blocks(language):
    text = (ROOT / "docs/ci.md").read_text()
    return re.findall(r"(?ms)^```%s\n(.*?)^```$" % language, text)


class Documented(CiCase):
    def setUp(self):
        super().setUp()
        self.project = self.path("project")
        os.makedirs(os.path.join(self.project, "ci"))
        for name, language in (("ci/memory.sh", "sh"), ("seep.toml", "toml")):
            found = blocks(language)
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

    @needs(yaml, "no yaml module here")
    def test_the_workflow_is_one_and_its_steps_run(self):
        found = blocks("yaml")
        self.assertEqual(len(found), 1)
        workflow = yaml.safe_load(found[0])
        self.assertEqual(set(workflow), {"name", True, "permissions", "jobs"})  # YAML 1.1 reads `on` as true
        steps = workflow["jobs"]["memory"]["steps"]
        for step in steps:
            self.assertTrue(set(step) <= {"name", "uses", "run", "with", "env", "if"}, step)
            self.assertEqual(("uses" in step) + ("run" in step), 1, step)
            self.assertRegex(step.get("uses", "a/b@v1"), r"^[\w./-]+@v\d+$")
        own = [s for s in steps if "run" in s and not s["name"].startswith("Install ")]
        self.assertEqual([s["name"] for s in own], ["Record and judge", "Summary", "Make this the next baseline"])
        self.write("train.py", (ROOT / "tests/cli/ci_jobs.py").read_text().split("'''")[1].replace(
            'sys.argv[1] == "leak"', "False"))
        for round_ in ("first", "with a baseline"):
            for step in own:
                self.assertNotIn("${{", step["run"])
                run = step["run"].replace("python ", sys.executable + " ")
                env = job_env(SEEP=SEEP, GITHUB_STEP_SUMMARY=self.path("summary.md"), **step.get("env", {}))
                done = self.command(["bash", "-e", "-c", run], cwd=self.project, env=env)
                self.assertEqual(done.status, 0, "%s, %s: %r" % (step["name"], round_, done))
        with open(self.path("summary.md")) as f:
            self.assertIn("nothing new or grown since the baseline", f.read())


if __name__ == "__main__":
    unittest.main()
