"""When a device has no memory left for PyTorch, who holds the process's memory is looked at, once."""
import unittest

from tests.e2e.caching_jobs import CachingCase
from tests.e2e.support import needs_to_read_children
from tests.e2e.test_snapshots import documents, line_of

JOB = """
kept = []


def keep():
    kept.append(bytearray(300000))


for i in range(10):
    keep()
for i in range(3):
    caching.caching_oom(0, 1 << 30)
"""


@needs_to_read_children
class ShortageLook(CachingCase):
    def test_what_is_held_then_is_known_though_no_look_was_due(self):
        profile = self.run_seep(self.argv(JOB), env=self.env())
        read, = documents(profile.folder)
        line = line_of(read, "keep")
        self.assertEqual((line["bytes"], line["state"]), (10 * 300001, "held"))
        self.assertIn("module __main__.kept", line["paths"][0]["text"])
        self.assertEqual(profile.written["coverage"]["holders"]["taken"], 1)

    def test_nobody_looks_where_steps_are_listed_or_it_is_off(self):
        for holders in ("off", "1000"):
            profile = self.run_seep(self.argv(JOB), ("--holders", holders), env=self.env())
            self.assertEqual(documents(profile.folder), [], holders)


if __name__ == "__main__":
    unittest.main()
