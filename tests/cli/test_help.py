"""Help, version, pages and wrong usage of every command."""
import glob
import os
import re
import resource
import shutil
import subprocess
import unittest

from tests.cli.man_page import assert_page_says
from tests.e2e.support import SEEP, SHIM, SUPPORTED, SeepCase, needs

COMMANDS = ("run", "report", "look", "wake", "view", "top", "digest", "merge", "check", "verify", "diff", "export", "doctor")


class Help(SeepCase):
    def test_every_way_to_a_page_gives_the_same_text(self):
        for command in COMMANDS:
            text = self.seep("help", command)
            self.assertEqual((text.status, text.stderr), (0, b""))
            self.assertTrue(text.stdout.startswith(b"seep-%s - " % command.encode()))
            for args in ((command, "-h"), (command, "--help")):
                self.assertEqual(self.seep(*args).stdout, text.stdout, args)

    def test_the_overview_names_every_command_and_no_other(self):
        text = self.seep("help").stdout.decode()
        listed = re.findall(r"^    ([a-z]+)\n        ", text, re.M)
        self.assertEqual(listed, ["run", "report", "look", "wake", "view", "top", "digest", "merge", "check", "verify", "diff", "export", "doctor",
                                  "help", "version"])
        for args in ((), ("-h",), ("--help",)):
            self.assertEqual(self.seep(*args).stdout.decode(), text if args else "")

    def test_version(self):
        for args in (("version",), ("--version",), ("-V",)):
            self.assertRegex(self.seep(*args).stdout.decode(), r"^seep \d+\.\d+\.\d+\n$")

    def test_wrong_usage_is_one_line_and_2(self):
        for args in ((), ("walk",), ("help", "walk"), ("help", "run", "x"), ("report",), ("report", "--walk", "x"),
                     ("report", "--format", "yaml", "x"), ("report", "--format"), ("doctor", "--walk"), ("-x",)):
            done = self.seep(*args)
            self.assertEqual((done.status, done.stdout), (2, b""), "%s %r" % (args, done))
            self.one_line_error(done)

    def test_output_that_nobody_takes_is_an_error(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([SEEP, "help"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)

    @needs(shutil.which("man"), "no man here")
    def test_manual_pages_are_well_formed_and_say_what_help_says(self):
        pages = sorted(set(glob.glob(os.path.join(os.path.dirname(SEEP), "man", "*.1"))) -
                       {os.path.join(os.path.dirname(SEEP), "man", "seep-lab.1")})  # another program's
        self.assertEqual([os.path.basename(p) for p in pages],
                         ["seep-%s.1" % c for c in sorted(COMMANDS + ("mpi",))] + ["seep.1"])
        for page in pages:
            name = os.path.basename(page)[:-2].replace("seep-", "")
            assert_page_says(self, page, self.seep("help", name).stdout.decode())


class Doctor(SeepCase):
    def test_this_machine_has_all(self):
        done = self.seep("doctor", timeout=120)
        self.assertEqual((done.status, done.err), (0, ""), repr(done))
        for subject in ("libseep.so", "Python", "GPU", "memory"):
            self.assertRegex(done.stdout.decode(), r"(?m)^%s +\S" % subject)

    def test_limits_of_single_processes_are_lines_of_their_own(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
            resource.setrlimit(resource.RLIMIT_DATA, (5 << 30, 5 << 30))
        plain = self.seep("doctor", timeout=120).stdout.decode()
        said = self.seep("doctor", timeout=120, preexec_fn=limit).stdout.decode()
        self.assertRegex(said, r"address space \(ulimit -v\) limited to 6.0 GiB: ")
        self.assertRegex(said, r"data segment \(ulimit -d\) limited to 5.0 GiB: ")
        together = re.findall(r"(?m)^.*processes together may use .*$", said)
        self.assertEqual(len(together), 1, said)
        self.assertIn(together[0], plain, "what a job as a whole may hold is the same")

    def test_pythons_whose_stacks_cannot_be_read_are_told(self):
        newest = max(SUPPORTED)
        said = {"cpython %d.%d.1 0" % newest: "ok +%d.%d.1 %%s" % newest,
                "cpython %d.%d.1 1" % newest: r"partly +%d.%d.1 %%s: native stacks only; it has no GIL" % newest,
                "cpython 3.99.1 0": r"partly +3.99.1 %%s: native stacks only; seep reads .* of 3.8 to %d.%d" % newest}
        for number, (answer, told) in enumerate(said.items()):
            python = self.path("python3.%dt" % number)
            with open(python, "w", encoding="utf-8") as f:
                f.write("#!/bin/sh\necho '%s'\n" % answer)
            os.chmod(python, 0o755)
            said[answer] = told % re.escape(python)
        done = self.seep("doctor", timeout=120, env=dict(os.environ, PATH=self.dir + ":" + os.environ["PATH"]))
        for told in said.values():
            self.assertRegex(done.stdout.decode(), told + r".*\n")

    def test_a_command_that_cannot_be_recorded_is_told(self):
        done = self.seep("doctor", "--", "/nonexistent/program", timeout=120)
        self.assertEqual(done.status, 1)
        self.assertRegex(done.stdout.decode(), r"command +MISSING +/nonexistent/program was not found")

    def test_a_command_that_can(self):
        done = self.seep("doctor", "sh", "-c", "exit 3", timeout=120)
        self.assertEqual(done.status, 0, repr(done))
        self.assertIn("loads the library", done.stdout.decode())

    def test_without_the_library_it_says_so(self):
        alone = self.path("seep")
        shutil.copy(SEEP, alone)
        done = self.command([alone, "doctor"], timeout=120)
        self.assertEqual(done.status, 1)
        self.assertRegex(done.stdout.decode(), r"libseep.so +MISSING")
        self.runs_the_job_alone(alone, "install seep again")

    def runs_the_job_alone(self, seep, advice):
        done = self.command([seep, "run", "--", "sh", "-c", "echo ran; exit 3"], cwd=self.dir)
        self.assertEqual((done.status, done.stdout), (3, b"ran\n"), repr(done))
        first, last = done.err.splitlines()
        self.assertRegex(first, "^seep: .*; the job runs without seep: " + advice)
        self.assertIn("nothing was recorded", last)

    def test_where_the_preload_cannot_name_the_library_the_job_is_run(self):
        os.mkdir(self.path("a folder"))
        for file in (SEEP, SHIM):
            shutil.copy(file, self.path("a folder"))
        self.runs_the_job_alone(self.path("a folder", "seep"), "move seep")

    def test_it_leaves_nothing_behind(self):
        tmp = self.path("tmp")
        os.mkdir(tmp)
        self.seep("doctor", timeout=120, env=dict(os.environ, TMPDIR=tmp))
        self.assertEqual(os.listdir(tmp), [])


if __name__ == "__main__":
    unittest.main()
