"""Small jobs for the tests of check, verify and diff: recorded once, then copied, cut and compared."""
import glob
import json
import os
import shutil
import sys
import tempfile
import unittest

from tests.e2e.support import ROOT, SEEP, SeepCase, job_env

JOB = '''"""usage: job.py leak|fixed [--steps N] [--no-steps]"""
import sys
import time
import seep

kept = []


def load(keep):
    block = bytearray(64 * 1024)
    if keep:
        kept.append(block)  # LEAK
    return block


def main():
    steps = int(sys.argv[sys.argv.index("--steps") + 1]) if "--steps" in sys.argv else 60
    for step in range(steps):
        load(sys.argv[1] == "leak")
        if "--no-steps" in sys.argv:
            time.sleep(0.02)
        else:
            seep.step()
    if "--hang" in sys.argv:
        print("ready", flush=True)
        time.sleep(600)


main()
'''
LEAK_BYTES = 64 * 1024


class CiCase(SeepCase):
    """Profiles by name, made when they are first asked for; `fresh_copy` gives one to spoil."""

    _made = {}
    _root = None

    @classmethod
    def setUpClass(cls):
        if CiCase._root is None:
            CiCase._root = tempfile.mkdtemp(prefix="seep-ci-")
            unittest.addModuleCleanup(CiCase._forget)
            for name in ("job.py", "other.py"):
                with open(os.path.join(CiCase._root, name), "w") as f:
                    f.write(JOB)

    @classmethod
    def _forget(cls):
        shutil.rmtree(CiCase._root, ignore_errors=True)
        CiCase._root, CiCase._made = None, {}

    def profile(self, name, *args, script="job.py", ends=0):
        """The profile of `job.py args`, recorded in the folder of the job as its working folder."""
        if name not in self._made:
            folder = os.path.join(self._root, name + ".d")
            done = self.seep("run", "-q", "--no-report", "--holders", "off", "-o", folder, "--", sys.executable, script, *args,
                             cwd=self._root)
            self.assertEqual(done.status, ends, repr(done))
            self._made[name] = folder
        return self._made[name]

    @property
    def leak(self):
        return self.profile("leak", "leak")

    @property
    def fixed(self):
        return self.profile("fixed", "fixed")

    def fresh_copy(self, folder):
        copy = self.fresh("copy")
        shutil.copytree(folder, copy)
        return copy

    def profiles_of(self, folder):
        found = sorted(glob.glob(os.path.join(folder, "*.seep")))
        self.assertTrue(found, folder)
        return found

    def spoiled(self):
        """Folders in which nothing can be judged: [(what, path)]."""
        empty = self.path("empty.d")
        os.mkdir(empty)
        file = self.path("file")
        with open(file, "w") as f:
            f.write("no profile\n")
        garbage = self.path("garbage.d")
        os.mkdir(garbage)
        with open(os.path.join(garbage, "1-1.seep"), "wb") as f:
            f.write(os.urandom(1 << 16))
        headless = self.fresh_copy(self.leak)
        for path in self.profiles_of(headless):
            os.truncate(path, 100)
        cut = self.fresh_copy(self.leak)
        for path in self.profiles_of(cut):
            os.truncate(path, os.path.getsize(path) // 4)
        return [("missing", self.path("nowhere.d")), ("empty", empty), ("a file", file), ("garbage", garbage),
                ("cut to nothing", headless), ("cut", cut)]

    def cannot(self, *args, about=None):
        """The command says that it cannot judge: status 2, one line, nothing on standard output."""
        done = self.seep(*args)
        self.assertEqual((done.status, done.stdout), (2, b""), "%s\n%r" % (about or args, done))
        return self.one_line_error(done)

    def document(self, *args, status):
        done = self.seep(*args, "--format", "json")
        self.assertEqual(done.status, status, repr(done))
        self.assertEqual(done.err != "", status == 2)
        document = json.loads(done.stdout)
        if args[0] == "check":
            self.assertEqual(validate(ROOT / "docs/check.schema.json", document), [])
        return document


def validate(schema_file, document):
    """What breaks the schema, as texts."""
    import jsonschema

    with open(schema_file) as f:
        schema = json.load(f)
    cls = jsonschema.validators.validator_for(schema)
    cls.check_schema(schema)
    return ["%s: %s" % ("/".join(map(str, e.absolute_path)), e.message[:200])
            for e in cls(schema).iter_errors(document)]


SCHEMAS = ROOT / "tests/schemas"
__all__ = ["CiCase", "LEAK_BYTES", "SCHEMAS", "SEEP", "ROOT", "job_env", "validate"]
