"""`seep check`: every exit status, and its formats held against schemas.

SEEP_SARIF_SCHEMA, SEEP_JUNIT_XSD: published schemas, used beside our own where they are given."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from tests.cli.ci_jobs import LEAK_BYTES, SCHEMAS, SEEP, CiCase, job_env, validate
from tests.e2e.support import children_of, kill_session, marked_line, needs

BUDGET = """
[space.host]
growth = "4KiB"
peak = "1GiB"
[process.trainer.host]
growth = "128KiB"
[findings]
leak = 0
"""


class Status(CiCase):
    def test_a_job_without_findings_holds(self):
        done = self.seep("check", self.fixed)
        self.assertEqual((done.status, done.err), (0, ""), repr(done))
        self.assertIn("seep check: holds", done.stdout.decode())

    def test_a_leak_is_violated_at_its_line(self):
        check = self.document("check", self.leak, status=1)
        self.assertEqual(check["verdict"], "violated")
        line = marked_line(os.path.join(self._root, "job.py"), "LEAK")
        found = [f for f in check["findings"] if f["verdict"] == "violated"]
        self.assertEqual(len(found), 1)
        self.assertIn(found[0]["frame"]["line"], range(line - 3, line + 1))  # the block's line is 2 above

    def test_budgets_of_the_command_line(self):
        small, large = "host=%d" % (LEAK_BYTES // 2), "host=%d" % (LEAK_BYTES * 2)
        for status, args in ((1, ("--max-growth", small)), (0, ("--max-growth", large)),
                             (0, ("--max-growth", "shm=0")), (1, ("--max-peak", "host=1KiB")),
                             (0, ("--max-peak", "host=1TiB")), (1, ("--max-findings", "leak=0")),
                             (0, ("--max-findings", "leak=1")), (0, ("--max-findings", "pressure=0")),
                             (1, ("--max-growth", large, "--max-peak", "host=1KiB"))):
            with self.subTest(args=args):
                self.assertEqual(self.seep("check", self.leak, *args).status, status)

    def test_the_growth_of_a_space_is_that_of_what_is_kept(self):
        check = self.document("check", self.leak, "--max-growth", "host=1", status=1)
        line = check["lines"][0]
        self.assertAlmostEqual(line["value"], LEAK_BYTES, delta=0.02 * LEAK_BYTES)
        self.assertLessEqual(line["low"], line["value"])
        self.assertGreaterEqual(line["high"], line["value"])
        self.assertEqual(line["frame"]["function"], "load")
        fixed = self.document("check", self.fixed, "--max-growth", "host=4KiB", status=0)
        self.assertLess(abs(fixed["lines"][0]["value"]), 1024)

    def test_a_budget_file_and_options_that_win_over_it(self):
        path = self.path("budget.toml")
        with open(path, "w") as f:
            f.write(BUDGET)
        self.assertEqual(self.seep("check", self.fixed, "--budget", path).status, 0)
        check = self.document("check", self.leak, "--budget", path, status=1)
        self.assertEqual({(x["kind"], x.get("process")): x["verdict"] for x in check["lines"]},
                         {("growth", None): "violated", ("peak", None): "holds", ("growth", "trainer"): "holds",
                          ("findings", None): "violated"})
        self.document("check", self.leak, "--max-growth", "host=1MiB", "--max-findings", "leak=9", "--budget", path,
                      status=0)

    def test_an_ignored_finding_does_not_count(self):
        path = self.path("budget.json")
        with open(path, "w") as f:
            json.dump({"ignore": [{"file": "job.py", "function": "load", "reason": "known: #7"}]}, f)
        check = self.document("check", self.leak, "--budget", path, status=0)
        self.assertEqual([(f["verdict"], f["reason"]) for f in check["findings"]], [("ignored", "known: #7")])

    def test_a_baseline(self):
        again = self.profile("fixed-again", "fixed")
        self.assertEqual(self.seep("check", self.fixed, "--baseline", again).status, 0)
        self.assertEqual(self.seep("check", self.leak, "--baseline", self.leak).status, 0, "known leaks pass")
        check = self.document("check", self.leak, "--baseline", self.fixed, status=1)
        self.assertEqual({x["kind"] for x in check["lines"]}, {"baseline"})
        self.assertEqual(check["lines"][0]["frame"]["function"], "load")
        self.assertEqual(self.seep("check", self.fixed, "--baseline", self.leak).status, 0)

    def test_what_cannot_be_read_is_2(self):
        for what, folder in self.spoiled():
            with self.subTest(what=what):
                self.cannot("check", folder, about=what)
                self.cannot("check", self.leak, "--baseline", folder, about=what)

    def test_a_profile_of_another_format_says_which_seep_to_use(self):
        for version, advice in ((99, "update this seep"), (1, "read it with that one, or record the job again")):
            copy = self.fresh_copy(self.leak)
            for path in glob.glob(os.path.join(copy, "*.seep*")):
                with open(path, "r+b") as f:
                    f.seek(8)
                    f.write(version.to_bytes(4, "little"))
            for args in (("check", copy), ("report", copy), ("view", copy, "-o", self.path("x.html"))):
                with self.subTest(version=version, command=args[0]):
                    said = self.cannot(*args)
                    self.assertIn("(format %d, this one reads" % version, said)
                    self.assertTrue(said.rstrip().endswith(advice), said)

    def test_a_baseline_of_another_job_is_2(self):
        for name, args, script, advice in (("short", ("fixed", "--steps", "30"), "job.py", "run both for as many steps"),
                                           ("slices", ("fixed", "--no-steps"), "job.py", "call seep.step() once a step in both"),
                                           ("other", ("fixed",), "other.py", "compare two runs of one script")):
            other = self.profile(name, *args, script=script)
            # as slices of time the run is too short for verify, which looks at that first
            for command in (("check", self.fixed, "--baseline", other), ("verify", self.fixed, other))[:2 - (name == "slices")]:
                with self.subTest(name, command=command[0]):
                    said = self.cannot(*command)
                    self.assertIn("not the same job", said)
                    self.assertTrue(said.rstrip().endswith(advice), said)

    def test_no_steps_and_too_few_are_2(self):
        few = self.profile("few", "fixed", "--steps", "8")
        for folder in (self.profile("none", "fixed", "--steps", "0"), few):
            for args in ((), ("--max-growth", "host=1KiB"), ("--max-findings", "leak=0"), ("--baseline", folder)):
                with self.subTest(args=args):
                    self.assertIn("too few", self.document("check", folder, *args, status=2)["reason"])
        self.assertEqual(self.seep("check", few, "--max-peak", "host=1GiB").status, 0, "a peak needs no steps")
        path = self.path("budget.toml")
        with open(path, "w") as f:
            f.write("min_steps = 61\n")
        self.assertIn("min_steps", self.document("check", self.fixed, "--budget", path, status=2)["reason"])

    def test_a_job_that_failed_is_2_in_every_format(self):
        with open(os.path.join(self._root, "crash.py"), "w") as f:
            f.write("import time\ntime.sleep(1)\nraise SystemExit(3)\n")
        folder = self.profile("crash", script="crash.py", ends=3)
        why = "the job failed before its first step (ended with status 3)"
        for name, said in (("text", "seep check: cannot tell"), ("markdown", why), ("junit", '<error type="unknown"'),
                           ("sarif", '"executionSuccessful": false')):
            with self.subTest(name):
                done = self.seep("check", folder, "--format", name)
                self.assertEqual(done.status, 2, repr(done))
                self.assertIn(said, done.stdout.decode())
                self.assertIn(why, self.one_line_error(done))
                self.assertIn(why, done.stdout.decode() if name != "text" else why)
        self.document("check", folder, "--max-peak", "host=1GiB", "--allow-incomplete", status=0)

    def test_a_job_that_still_runs_is_2_unless_told(self):
        folder = self.fresh()
        job = subprocess.Popen([SEEP, "run", "-q", "-o", folder, "--", sys.executable, "job.py", "leak", "--hang"],
                               cwd=self._root, env=job_env(), stdout=subprocess.PIPE, start_new_session=True)
        try:
            self.assertEqual(self.until(job.stdout.fileno(), b"\n"), b"ready\n")
            self.assertIn("still runs", self.cannot("check", folder))
            self.assertIn("still runs", self.cannot("verify", folder, self.fixed))
            self.document("check", folder, "--allow-incomplete", status=1)
            for child in children_of(job.pid):
                os.kill(child, signal.SIGKILL)
            job.wait(60)
        finally:
            kill_session(job.pid)
            job.wait()
            job.stdout.close()
        done = self.seep("check", folder)
        self.assertEqual(done.status, 1, "a killed job is judged: %r" % done)
        self.assertIn("killed by SIGKILL", done.stdout.decode())

    def test_a_cut_profile_is_judged_when_told(self):
        copy = self.fresh_copy(self.leak)
        for path in self.profiles_of(copy):
            os.truncate(path, os.path.getsize(path) // 4)
        done = self.seep("check", copy, "--allow-incomplete")
        self.assertIn(done.status, (0, 1, 2), repr(done))

    def test_wrong_usage_is_2(self):
        for args in ((), (self.fixed, self.leak), (self.fixed, "--walk"), (self.fixed, "--max-growth"),
                     (self.fixed, "--max-growth", "host"), (self.fixed, "--max-peak", "heap=1"),
                     (self.fixed, "--max-findings", "leak=x"), (self.fixed, "--format", "yaml"),
                     (self.fixed, "--budget", "/nonexistent"), (self.fixed, "--roles", "/nonexistent")):
            with self.subTest(args=args[1:]):
                self.cannot("check", *args)

    def test_an_output_that_cannot_be_written_is_2(self):
        self.cannot("check", self.fixed, "-o", "/nonexistent/check.txt")
        with open("/dev/full", "w") as full:
            done = subprocess.run([SEEP, "check", self.fixed], stdout=full, stderr=subprocess.PIPE, env=job_env())
        self.assertEqual(done.returncode, 2)

    def test_hostile_budget_files_are_2_and_one_line(self):
        for text in (b"\x00" * 100, b"\xff\xfe[", b"[space.host]\ngrowth = 'lots'\n", b"[" * 100000, b"{" * 100000,
                     b"a = " + b"[" * 100000, b"x.y.z = 1\n", b"[space]\n", b"\xef\xbb\xbfnope = 1\n",
                     b"[[ignore]]\n" * 5000, b"{\"ignore\": [{\"reason\": \"\\u001b[31m\", \"line\": 1}]}",
                     b"'\\u001b[31m' = 1\n", b"#" * (2 << 20)):
            path = self.path("budget")
            with open(path, "wb") as f:
                f.write(text)
            with self.subTest(text=text[:40]):
                done = self.seep("check", self.fixed, "--budget", path)
                if text == b"[space]\n":  # nothing is asked for
                    self.assertEqual(done.status, 0, repr(done))
                    continue
                self.assertEqual((done.status, done.stdout), (2, b""), repr(done))
                self.assertNotIn("\x1b", self.one_line_error(done))


class Formats(CiCase):
    ARGS = ("--max-growth", "host=1KiB", "--max-findings", "leak=0", "--max-peak", "host=1GiB")

    def output(self, name, *args, status=1, folder=None):
        path = self.path("out." + name)
        done = self.seep("check", folder or self.leak, "--format", name, "-o", path, *(args or self.ARGS))
        self.assertEqual((done.status, done.stdout, done.err), (status, b"", ""), repr(done))
        return path

    def test_sarif_is_what_the_schemas_say(self):
        for command, status in (("check", 1), ("report", 0)):
            done = self.seep(command, self.leak, "--format", "sarif")
            self.assertEqual(done.status, status, repr(done))
            log = json.loads(done.stdout)
            self.assertEqual(validate(SCHEMAS / "sarif.schema.json", log), [])
            run = log["runs"][0]
            for rule in run["tool"]["driver"]["rules"]:
                self.assertRegex(rule["help"]["markdown"], r"^\*\*Signs:\*\* .{40,}\n\n\*\*To do:\*\* .{20,}\.$")
                self.assertLess(len(rule["fullDescription"]["text"]), 1024, "GitHub takes no more")
            for result in run["results"]:
                self.assertEqual(run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"], result["ruleId"])

    @needs(os.environ.get("SEEP_SARIF_SCHEMA"), "SEEP_SARIF_SCHEMA does not name the published schema")
    def test_sarif_is_what_the_published_schema_says(self):
        for args in (self.ARGS, ("--baseline", self.fixed), ("--max-peak", "host=1")):
            with open(self.output("sarif", *args)) as f:
                self.assertEqual(validate(os.environ["SEEP_SARIF_SCHEMA"], json.load(f)), [])

    def test_sarif_points_at_the_line(self):
        with open(self.output("sarif")) as f:
            run = json.load(f)["runs"][0]
        place = run["results"][0]["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"], {"uri": "job.py", "uriBaseId": "SRCROOT"})
        self.assertEqual(run["originalUriBaseIds"]["SRCROOT"]["uri"], "file://%s/" % self._root)
        self.assertGreater(place["region"]["startLine"], 1)
        self.assertEqual([r["ruleId"] for r in run["results"]], ["unbounded-growth", "memory-budget"])
        self.assertEqual(run["results"][0]["level"], "error")

    @needs(shutil.which("xmllint"), "no xmllint here")
    def test_junit_is_what_the_schemas_say(self):
        for schema in filter(None, (str(SCHEMAS / "junit.xsd"), os.environ.get("SEEP_JUNIT_XSD"))):
            for folder, status in ((self.leak, 1), (self.fixed, 0)):
                args = ("--max-findings", "leak=0")
                done = self.command(["xmllint", "--noout", "--schema", schema,
                                     self.output("junit", *args, status=status, folder=folder)])
                self.assertEqual(done.status, 0, repr(done))

    def test_junit_counts_what_it_holds(self):
        suite = ElementTree.parse(self.output("junit")).getroot().find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual(int(suite.get("tests")), len(cases))
        failed = [c.get("name") for c in cases if c.find("failure") is not None]
        self.assertEqual(int(suite.get("failures")), len(failed))
        self.assertEqual(len(failed), 3, failed)
        self.assertEqual(len({(c.get("classname"), c.get("name")) for c in cases}), len(cases))

    def test_markdown_has_a_row_for_each(self):
        with open(self.output("markdown")) as f:
            text = f.read()
        self.assertRegex(text, r"(?m)^### seep: memory budget violated$")
        for row in (r"^\| ❌ \| growth of host", r"^\| ✅ \| peak of host", r"^\| ❌ \| F1 \| unbounded-growth"):
            self.assertRegex(text, "(?m)" + row)
        for line in text.splitlines():
            if line.startswith("| "):
                self.assertIn(line.count("|") - line.count("\\|"), (5, 8), line)

    def test_reports_have_the_same_formats(self):
        for name in ("markdown", "sarif", "junit"):
            done = self.seep("report", self.leak, "--format", name)
            self.assertEqual((done.status, done.err), (0, ""), repr(done))
            self.assertIn(b"unbounded-growth", done.stdout)
        self.cannot("report", self.leak, "--format", "toml")

    def test_a_working_folder_of_any_name_gives_a_valid_uri(self):
        odd = self.path("a b%ü")
        os.mkdir(odd)
        shutil.copy(os.path.join(self._root, "job.py"), os.path.join(odd, "mit ö.py"))
        folder = self.fresh()
        done = self.seep("run", "-q", "-o", folder, "--", sys.executable, "mit ö.py", "leak", cwd=odd)
        self.assertEqual(done.status, 0, repr(done))
        log = json.loads(self.seep("check", folder, "--format", "sarif").stdout)
        self.assertEqual(validate(SCHEMAS / "sarif.schema.json", log), [])
        uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        self.assertEqual(uri, "mit%20%C3%B6.py")


class Roles(CiCase):
    def test_a_file_of_roles_is_used_and_checked(self):
        path = self.path("roles.toml")
        with open(path, "w") as f:
            f.write("[[rule]]\nrole = 'checkpoint'\nfunction = 'load'\nfile = 'job.py'\n")
        check = self.document("check", self.leak, "--roles", path, status=1)
        self.assertEqual(check["findings"][0]["part"], "checkpoint")
        folder = self.fresh()
        done = self.seep("run", "-q", "-o", folder, "--roles", path, "--", sys.executable, "job.py", "leak",
                         cwd=self._root)
        self.assertEqual(done.status, 0, repr(done))
        with open(os.path.join(folder, "report.json")) as f:
            self.assertEqual(self.valid(json.load(f))["findings"][0]["part"], "checkpoint")
        with open(path, "w") as f:
            f.write("[[rule]]\nrole = 'cook'\n")
        self.cannot("report", self.leak, "--roles", path)
        done = self.seep("run", "--roles", path, "--", "true")
        self.assertEqual(done.status, 125, repr(done))
        self.one_line_error(done)


if __name__ == "__main__":
    unittest.main()
