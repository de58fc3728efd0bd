"""How a job ended: the gate's verdict on one that ran out of memory, and the wording in each format."""
import json
import os
import signal
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from tests.cli.ci_jobs import SCHEMAS, CiCase, validate
from tests.e2e.support import SOURCES, compile_c

JOB = '''"""usage: job.py LIBRARY caught|dies"""
import ctypes
import sys
import seep

c10 = ctypes.CDLL(sys.argv[1])
c10.c10_made.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p, ctypes.c_int64)
c10.c10_failed.argtypes = (ctypes.c_int, ctypes.c_int64)


def forward(step):
    c10.c10_made(1, 0, 0x7000000000, 1 << 20)
    if step == 20:
        c10.c10_failed(0, 1 << 30)  # ASKED
        if sys.argv[2] == "dies":
            raise MemoryError("CUDA out of memory")


for step in range(40):
    forward(step)
    seep.step()
'''
WORKERS = '''"""A trainer that ends its workers: one with terminate(), one by itself with a status, one runs to its end."""
import multiprocessing
import os
import sys
import time
import seep


def work(how):
    kept = bytearray(1 << 20)
    if how == "status":
        os._exit(3)
    time.sleep(0 if how == "end" else 600)
    return kept


if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=work, args=(how,)) for how in ("terminate", "status", "end")]
    for worker in workers:
        worker.start()
    for step in range(30):
        seep.step()
        time.sleep(0.01)
    workers[1].join()
    workers[2].join()
    workers[0].terminate()
    workers[0].join()
    if "--kill" in sys.argv:
        os.kill(os.getpid(), 9)
    if "--status" in sys.argv:
        sys.exit(4)
'''


class OutOfMemory(CiCase):
    def job(self, how):
        """The profile of a job that asks for more than its device has, and dies of it or goes on."""
        name = "memory-" + how
        if name not in self._made:
            library = compile_c(self, SOURCES / "lib/c10_like.c", os.path.join(self._root, "libc10.so"), "-fPIC", "-shared",
                                "-DSIGNATURE=20")
            with open(os.path.join(self._root, "memory.py"), "w") as f:
                f.write(JOB)
            folder = os.path.join(self._root, name + ".d")
            done = self.seep("run", "-q", "--holders", "off", "-o", folder, "--", sys.executable, "memory.py", library, how,
                             cwd=self._root)
            self.assertEqual(done.status, 1 if how == "dies" else 0, repr(done))
            self._made[name] = folder
        return self._made[name]

    def test_a_job_that_ran_out_of_memory_is_violated(self):
        for how in ("dies", "caught"):
            for args in ((), ("--max-peak", "host=1TiB"), ("--max-findings", "leak=9"), ("--baseline", self.job(how))):
                with self.subTest(how, args=args):
                    check = self.document("check", self.job(how), *args, status=1)
                    self.assertIn(("out-of-memory", "violated"), [(x.get("pattern"), x["verdict"]) for x in check["lines"]])
                    self.assertEqual([f["verdict"] for f in check["findings"] if f["pattern"] == "out-of-memory"], ["violated"])

    def test_it_is_violated_even_where_too_few_steps_came_to_judge_the_rest(self):
        check = self.document("check", self.job("dies"), "--max-growth", "host=1GiB", "--budget", self.budget("min_steps = 99\n"),
                              status=1)
        self.assertEqual(check["verdict"], "violated")

    def budget(self, text):
        path = self.path("budget.toml")
        with open(path, "w") as f:
            f.write(text)
        return path

    def test_it_may_be_allowed(self):
        folder = self.job("caught")
        self.assertEqual(self.seep("check", folder, "--max-findings", "out-of-memory=1").status, 0)
        self.assertEqual(self.seep("check", folder, "--max-findings", "out-of-memory=0").status, 1)
        self.assertEqual(self.seep("check", folder, "--budget", self.budget("[findings]\nout-of-memory = 1\n")).status, 0)
        ignored = "[[ignore]]\npattern = 'out-of-memory'\nreason = 'the batch size is searched for'\n"
        self.assertEqual(self.seep("check", folder, "--budget", self.budget(ignored)).status, 0)

    def test_to_allow_it_allows_nothing_else(self):
        both = self.profile("leak", "leak")
        self.assertEqual(self.seep("check", both, "--max-findings", "out-of-memory=1").status, 1)

    def test_every_form_says_it(self):
        folder = self.job("dies")
        for command, status in (("check", 1), ("report", 0)):
            with self.subTest(command):
                shown = {name: self.seep(command, folder, "--format", name) for name in ("text", "markdown", "sarif", "junit")}
                for name, done in shown.items():
                    self.assertEqual(done.status, status, repr(done))
                markdown = shown["markdown"].stdout.decode()
                self.assertIn("memory budget violated", markdown)
                self.assertIn("ended with status 1", markdown)
                self.assertNotIn("✅ | F1", markdown)
                self.assertRegex(markdown, r"(?m)^\| ❌ \| F1 \| out-of-memory ")
                log = json.loads(shown["sarif"].stdout)
                self.assertEqual(validate(SCHEMAS / "sarif.schema.json", log), [])
                self.assertEqual([r["level"] for r in log["runs"][0]["results"] if r["ruleId"] == "out-of-memory"], ["error"])
                failures = ElementTree.fromstring(shown["junit"].stdout).findall(".//failure")
                self.assertIn("out-of-memory", [f.get("type") for f in failures])
                self.assertIn("ended with status 1", shown["text"].stdout.decode())

    def test_what_is_allowed_has_no_tick(self):
        done = self.seep("check", self.job("caught"), "--max-findings", "out-of-memory=1", "--format", "markdown")
        self.assertEqual(done.status, 0, repr(done))
        row, = (line for line in done.stdout.decode().splitlines() if "| out-of-memory |" in line)
        self.assertTrue(row.startswith("|  | F"), row)


class Ends(CiCase):
    def report(self, *args):
        name = "workers" + "".join(args)
        if name not in self._made:
            with open(os.path.join(self._root, "workers.py"), "w") as f:
                f.write(WORKERS)
            folder = os.path.join(self._root, name + ".d")
            done = self.seep("run", "-q", "--holders", "off", "-o", folder, "--", sys.executable, "workers.py", *args,
                             cwd=self._root)
            self.assertEqual(done.status, {"--kill": 128 + signal.SIGKILL, "--status": 4}.get(args[0] if args else None, 0),
                             repr(done))
            self._made[name] = folder
        return self._made[name], self.valid(json.loads(self.seep("report", self._made[name], "--format", "json").stdout))

    def test_workers_that_the_job_ended_have_not_failed(self):
        _, report = self.report()
        ends = sorted((p["exit"]["text"], p["exit"]["failed"]) for p in report["processes"])
        self.assertEqual(ends, [("ended normally", False), ("ended normally", False), ("ended with status 3", True),
                                ("terminated by its parent", False)])
        terminated, = (p["exit"] for p in report["processes"] if p["exit"]["text"] == "terminated by its parent")
        self.assertEqual((terminated["kind"], terminated["value"]), ("signal", signal.SIGTERM))

    def test_a_job_ends_as_its_trainer_does(self):
        for args, text, failed in (((), "ended normally", False), (("--kill",), "killed by SIGKILL", True),
                                   (("--status",), "ended with status 4", True)):
            with self.subTest(text):
                folder, report = self.report(*args)
                self.assertEqual((report["job"]["exit"]["text"], report["job"]["exit"]["failed"]), (text, failed))
                for form in ("text", "markdown"):
                    shown = self.seep("report", folder, "--format", form).stdout.decode()
                    self.assertRegex(shown, "30 steps by api.*, " + text)
                    if form == "text":
                        self.assertEqual(shown.startswith("seep: the job failed (%s) after 30 steps; " % text), failed)
                checked = self.seep("check", folder).stdout.decode()
                (self.assertIn if failed else self.assertNotIn)(": %s\n" % text, checked)

    def test_a_crash_before_the_first_step_is_told_in_a_few_lines(self):
        with open(os.path.join(self._root, "crash.py"), "w") as f:
            f.write("import time\ntime.sleep(1)\nraise SystemExit('bad config')\n")
        folder = self.profile("crash", script="crash.py", ends=1)
        said = self.seep("report", folder).stdout.decode()
        self.assertEqual(said.splitlines()[0],
                         "seep: the job failed (ended with status 1) before its first step; nothing to judge")
        self.assertLessEqual(len(said.splitlines()), 5, said)
        self.assertIn("process ", self.seep("report", "--all", folder).stdout.decode())

    def test_a_program_that_was_replaced_has_not_failed(self):
        folder = self.fresh()
        done = self.seep("run", "-q", "-o", folder, "--", sys.executable, "-c",
                         "import os, sys; kept = list(range(100000)); os.execv(sys.executable, ['python', 'dies.py'])",
                         cwd=self.script("dies.py", "import seep\nfor i in range(30): seep.step()\nraise SystemExit(5)\n"))
        self.assertEqual(done.status, 5, repr(done))
        report = json.loads(self.seep("report", folder, "--format", "json").stdout)
        self.assertEqual([(p["exit"]["text"], p["exit"]["failed"]) for p in report["processes"]],
                         [("replaced by exec", False), ("ended with status 5", True)])
        self.assertEqual(report["job"]["exit"]["text"], "ended with status 5")

    def script(self, name, text):
        """The working folder, with a script in it."""
        with open(self.path(name), "w") as f:
            f.write(text)
        return self.dir

    def test_a_command_that_failed_around_a_training_is_how_the_job_ended(self):
        folder = self.fresh()
        done = self.seep("run", "-q", "-o", folder, "--", "/bin/sh", "-c", "%s job.py fixed; exit 7" % sys.executable,
                         cwd=self._root)
        self.assertEqual(done.status, 7, repr(done))
        report = json.loads(self.seep("report", folder, "--format", "json").stdout)
        self.assertEqual(report["job"]["exit"], {"kind": "exit", "value": 7, "failed": True, "text": "ended with status 7"})


if __name__ == "__main__":
    unittest.main()
