"""Programs of other people's, plain and under `seep run`: the same output and status, ended in time.

Each is a shell script in tests/e2e/foreign.py that runs in a folder of its own, twice at the same path. A program that
is not installed, or does not run here without seep either, is skipped with a word."""
import os
import shutil
import time
import unittest

from tests.e2e.foreign import PROGRAMS
from tests.e2e.support import MALLOC_WORD, SHIM, SeepCase, job_env, said_of

NOBODY = 65534


def as_nobody():
    return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]


def base(process):
    """The program's name, though it has put a title in its place ("./redis-server unixsocket:/tmp/s", "nginx: worker")."""
    words = process["argv"][0].split() if process["argv"] else []
    return os.path.basename(words[0]).split(":")[0] if words else ""


class Foreign(SeepCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)

    def work(self, program):
        """The folder that the script runs in, made anew."""
        folder = self.path("work")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for name, text in program.files.items():
            with open(os.path.join(folder, name), "w") as f:
                f.write(text.replace("@WORK@", folder))
        if program.drops and os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        return folder

    def environment(self, program):
        env = job_env(HOME=self.path("work"), LC_ALL="C", TMPDIR=self.path("work"), PYTHONHASHSEED="0")
        env.update(program.environment())
        return env

    def hold(self, program):
        lacking = program.lacking()
        if lacking:
            self.skipTest("no " + lacking)
        argv = ["sh", "-eu", "-c", program.script]
        if program.drops and os.geteuid() == 0:
            argv = as_nobody() + argv
            if self.command(as_nobody() + ["test", "-r", SHIM]).status != 0:
                self.skipTest("nobody else may read %s" % SHIM)
        env = self.environment(program)
        began = time.monotonic()
        plain = self.command(argv, env=env, cwd=self.work(program), timeout=60)
        seconds = 30 + 20 * (time.monotonic() - began)  # a hang, however busy the machine is
        if plain.status != 0:
            self.skipTest("%s does not run here without seep: %s" % (program.name, plain.err[-300:]))
        profile = self.run_seep(argv, status=None, env=env, cwd=self.work(program), timeout=seconds)
        done = profile.done
        self.assertEqual((done.status, program.normal(done.stdout)), (plain.status, program.normal(plain.stdout)),
                         "without seep %r\nwith seep %r" % (plain, done))
        for word in ("seep: ", "libseep"):
            self.assertNotIn(word, done.err)
        self.reported(program, profile.written)

    def reported(self, program, report):
        """Every program that matters is there, with what it allocated or with a word on why that was not seen."""
        said = said_of(report)
        for name in program.seen:
            processes = [p for p in report["processes"] if base(p) == name]
            host = sum(p["spaces"].get("host", {"allocations": 0})["allocations"] for p in processes)
            if not host and program.drops:
                self.assertRegex(said, r"\buid\b|\buser\b", "%s is another user's" % name)
            else:
                self.assertTrue(processes, "no %s in %s" % (name, [base(p) for p in report["processes"]]))
                self.assertGreater(host, 0, "%s\n%s" % (name, said))
        for name in program.own():
            lines = [line for line in said.splitlines() if name in line]
            self.assertRegex("\n".join(lines), MALLOC_WORD, "%s brings its own: %s" % (name, said))
        for word in program.told():
            self.assertIn(word, said)


def add(program):
    setattr(Foreign, "test_" + program.name, lambda self: self.hold(program))


for _program in PROGRAMS:
    add(_program)

if __name__ == "__main__":
    unittest.main()
