"""`seep look` follows each field that CPython's own traversal visits: objects of many types own a list each, and none of
these lists is "a reference that was never given back", lost, or in a cycle."""
import json
import subprocess
import unittest

from tests.e2e import support
from tests.e2e.support import SEEP, SeepCase

THREAD_LOCAL = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
for _ in range(100):
    library.keep()
print("ready", flush=True)
sys.stdin.read()
"""


@support.needs_to_read_children
class LookOwners(SeepCase):
    def look(self, python, *arguments):
        with subprocess.Popen([python, str(support.SOURCES / "owners.py"), *arguments], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env=support.job_env(), text=True) as process:
            account = json.loads(process.stdout.readline())
            done = subprocess.run([SEEP, "look", "--format", "json", str(process.pid)], stdout=subprocess.PIPE, check=True)
            process.stdin.close()
        return account, json.loads(done.stdout)

    def each(self, hold, *arguments):
        for version, python in self.every_python():
            if support.supported(version):
                with self.subTest(python):
                    hold(*self.look(python, *arguments))

    def hold_owned(self, account, document):
        moment = document["looks"][0]
        self.assertGreater(moment["held_bytes"], account["bytes"] * len(account["owners"]))
        self.assertLess(moment["reference_bytes"], account["bytes"] / 8)
        self.assertEqual([h["path"]["text"] for h in document["holders"] if h["state"] == "lost"], [])

    def hold_extra(self, account, document):
        extra, found = account["bytes"] * account["extra"], document["looks"][0]["reference_bytes"]
        self.assertGreater(found, 0.8 * extra)  # a word that a call has left on a stack may hold the last one
        self.assertLess(found, 1.5 * extra)

    def test_what_any_object_owns_is_no_reference_that_was_never_given_back(self):
        self.each(self.hold_owned)

    def test_a_reference_that_was_never_given_back_is_still_told(self):
        self.each(self.hold_extra, "extra")

    def test_a_list_in_a_librarys_thread_local_data_is_no_stacks(self):
        library = support.compile_c(self, support.SOURCES / "lib/keeps_in_thread.c", self.path("keeps.so"), "-shared", "-fPIC",
                                    "-O1")
        with subprocess.Popen([support.SYSTEM_PYTHON, "-c", THREAD_LOCAL, library], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env=support.job_env(), text=True) as process:
            process.stdout.readline()
            done = subprocess.run([SEEP, "look", "--format", "json", str(process.pid)], stdout=subprocess.PIPE, check=True)
            process.stdin.close()
        most = json.loads(done.stdout)["holders"][0]
        self.assertEqual(most["path"]["root"]["kind"], "thread-data", most)
        self.assertGreater(most["retained_bytes"], 99 * 100_000)


if __name__ == "__main__":
    unittest.main()
