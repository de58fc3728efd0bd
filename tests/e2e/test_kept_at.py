"""The line that keeps memory allocated by another line: where the job's own code stores it in its holder."""
import json
import os
import sys
import time

from tests.e2e import support
from tests.e2e.support import SYSTEM_PYTHON, SeepCase, marked_line

STORE = '''import collections
import functools


class Base:
    def __init__(self):
        self.kept = []
        self.last = None

    def add(self, block):
        self.kept.append(block)  # ATTRIBUTE


class Store(Base):
    pass


class Another:
    def __init__(self):
        self.kept = []

    def add(self, block):
        self.kept.append(block)


CACHE = {}


def remember(key, block):
    CACHE[key] = block  # GLOBAL
    return CACHE


@functools.lru_cache(maxsize=None)  # CACHED
def make_once(n):
    return bytearray(SIZE + n)


SIZE = 40000
'''

JOB = '''import sys
import seep
import store


def attribute_block(i):
    return bytearray(40001 + i)  # MADE


def global_block(i):
    return bytearray(40002 + i)


def local_block(i):
    return bytearray(40003 + i)


def either_block(i):
    return bytearray(40004 + i)


def unclear_block(i):
    return bytearray(40005 + i)


def passed_block(i):
    return bytearray(40006 + i)


def work(passed, i):
    block = passed_block(i)
    passed.append(block)  # PASSED


def main():
    kept, local, either, passed = store.Store(), [], [], []
    unclear = vars(kept).setdefault("un" + "clear", [])
    another = store.Another()
    for i in range(60):
        kept.add(attribute_block(i))  # CALL
        store.remember(i, global_block(i))
        local.append(local_block(i))  # LOCAL
        if i % 2:
            either.append(either_block(i))  # EITHER
        else:
            either.insert(0, either_block(i))  # OR
        getattr(kept, "un" + "clear").append(unclear_block(i))
        work(passed, i)
        store.make_once(i)
        seep.step()


main()
'''


TAKEN = '''import ctypes
import seep

take = ctypes.pythonapi.Py_IncRef
take.argtypes = [ctypes.py_object]
take.restype = None


def block(i):
    return bytearray(100000 + i)


def main():
    n = 0
    for i in range(60):
        one = block(i)
        n += one[0]
        take(one)  # TAKEN
        seep.step()


main()
'''


POOL = '''import seep
from concurrent.futures import ProcessPoolExecutor


def features(i):
    return bytes(100000 + i)


def main():
    kept = []
    with ProcessPoolExecutor(1) as pool:
        for i in range(60):
            kept.append(pool.submit(features, i))  # SUBMIT
            kept[-1].result()
            seep.step()


if __name__ == "__main__":
    main()
'''


@support.needs_to_read_children
class KeptAt(SeepCase):
    def setUp(self):
        super().setUp()
        self.write("store.py", STORE)
        self.write("job.py", JOB)

    def write(self, name, text):
        with open(self.path(name), "w") as f:
            f.write(text)

    def line(self, name, mark):
        return [name, marked_line(self.path(name), mark)]

    def record(self):
        """A run that was looked at while main() went on."""
        return self.run_looked_at([SYSTEM_PYTHON, "job.py"], ("--holders", "50"), cwd=self.path(), timeout=120).folder

    def kept(self, folder):
        """By the function that made it: [file, line] of each statement."""
        report = json.loads(self.seep("report", folder, "--format", "json").stdout)
        self.valid(report)
        return {f["frame"]["function"]: f["kept_at"] and [[os.path.basename(k["file"]), k["line"]] for k in f["kept_at"]]
                for f in report["findings"] if f["frame"]}

    def test_the_statements_that_keep_are_said_where_they_are_clear(self):
        kept = self.kept(self.record())
        self.assertEqual(kept["attribute_block"], [self.line("store.py", "ATTRIBUTE")])
        self.assertEqual(kept["global_block"], [self.line("store.py", "GLOBAL")])
        self.assertEqual(kept["local_block"], [self.line("job.py", "LOCAL")])
        self.assertEqual(kept["make_once"], [self.line("store.py", "CACHED")])
        self.assertEqual(kept["either_block"], [self.line("job.py", "EITHER"), self.line("job.py", "OR")])
        self.assertEqual(kept["passed_block"], [self.line("job.py", "PASSED")])
        self.assertIsNone(kept["unclear_block"])

    def test_each_form_names_both_lines(self):
        folder = self.record()
        both = "kept at store.py:%d in add, made at job.py:%d in attribute_block" % (
            self.line("store.py", "ATTRIBUTE")[1], self.line("job.py", "MADE")[1])
        text = self.seep("report", folder).stdout.decode()
        self.assertIn(both, text)
        self.assertIn("in add: self.kept.append(block)\n", text)
        self.assertIn("kept at  one of\n", text)
        self.assertIn(both, self.seep("check", folder).stdout.decode())
        self.assertIn(both.replace("_", "\\_"), self.seep("report", folder, "--format", "markdown").stdout.decode())
        self.assertIn("in add: self.kept.append(block)", self.seep("report", folder, "--format", "junit").stdout.decode())
        log = json.loads(self.seep("report", folder, "--format", "sarif").stdout)
        related = [place for result in log["runs"][0]["results"]
                   for place in result.get("locations", []) + result.get("relatedLocations", []) if "message" in place]
        regions = {(place["physicalLocation"]["artifactLocation"]["uri"],
                    place["physicalLocation"].get("region", {}).get("startLine")): place["message"]["text"]
                   for place in related}
        self.assertEqual(regions[tuple(self.line("store.py", "ATTRIBUTE"))], "kept here: self.kept.append(block)")

    def test_what_a_librarys_thread_receives_is_kept_by_the_users_line(self):
        self.write("job.py", POOL)
        report = json.loads(self.seep("report", self.record(), "--format", "json").stdout)
        received = [f for f in report["findings"] if f["frame"]["function"] == "features"]
        self.assertEqual([[k["line"] for k in f["kept_at"]] for f in received[:1]],
                         [[self.line("job.py", "SUBMIT")[1]]], report["findings"])
        self.assertRegex(received[0]["title"], r"^main\.kept: live memory grows by .* \(allocated in another process's features\)")
        self.assertEqual(received[0]["part"], "library")

    def test_calls_that_may_have_taken_a_reference_too_many_are_said(self):
        self.write("job.py", TAKEN)
        folder = self.record()
        report = json.loads(self.seep("report", folder, "--format", "json").stdout)
        self.valid(report)
        taken = [f for f in report["findings"] if f["frame"]["function"] == "block"]
        self.assertEqual(taken[0]["holders"]["state"], "reference", report["findings"])
        self.assertIsNone(taken[0]["kept_at"])
        self.assertEqual([(k["line"], k["text"]) for k in taken[0]["passed_at"]],
                         [(self.line("job.py", "TAKEN")[1], "take(one)")])
        self.assertIn("goes to  job.py:%d in main: take(one)\n" % self.line("job.py", "TAKEN")[1],
                      self.seep("report", folder).stdout.decode())

    def test_a_file_that_is_no_longer_what_ran_is_not_believed(self):
        folder = self.record()
        edited = "\n" + STORE
        self.write("store.py", edited)  # later than the job
        kept = self.kept(folder)
        self.assertEqual(kept["attribute_block"], [self.line("job.py", "CALL")], "all that is known without it")
        self.assertEqual(kept["local_block"], [self.line("job.py", "LOCAL")])
        self.write("store.py", STORE.replace("class Another", "\n" * 40 + "class Another"))  # older, and another text
        day_before = time.time() - 86400
        os.utime(self.path("store.py"), (day_before, day_before))
        self.assertEqual(self.kept(folder)["attribute_block"], [self.line("job.py", "CALL")])
        os.remove(self.path("job.py"))
        os.mkfifo(self.path("job.py"))
        self.assertIsNone(self.kept(folder)["local_block"])


if __name__ == "__main__":
    import unittest
    sys.exit(unittest.main())
