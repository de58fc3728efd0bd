"""`seep look` follows each field that CPython's own traversal visits: objects of many types own a list each, and none of
these lists is "a reference that was never given back", lost, or in a cycle."""
import json
import subprocess
import unittest

from tests.e2e import support
from tests.e2e.support import SEEP, SeepCase


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


if __name__ == "__main__":
    unittest.main()
