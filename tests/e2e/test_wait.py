"""A job that waits for children gets the same results as without seep, and the report says how they ended."""
import unittest

from tests.e2e.support import SeepCase


class Waits(SeepCase):
    def alike(self, section):
        argv = [self.subject("waits"), section]
        alone = self.command(argv)
        profile = self.run_seep(argv)
        self.assertEqual(profile.done.stdout, alone.stdout)
        return profile, alone

    def test_a_handler_that_reaps_does_not_take_the_child_that_is_waited_for(self):
        profile, alone = self.alike("handler")
        self.assertEqual(alone.stdout, b"waited for 12, handler took 0\n")
        exits = sorted((p["exit"]["kind"], p["exit"]["value"]) for p in profile.report["processes"])
        self.assertEqual(exits, [("exit", 0)] + [("exit", 3)] * 12)

    def test_errors_and_interruptions_are_the_jobs_own(self):
        profile, _ = self.alike("errors")
        exits = sorted((p["exit"]["kind"], p["exit"]["value"]) for p in profile.report["processes"])
        self.assertEqual(exits, [("exit", 0), ("exit", 5), ("exit", 6)])


if __name__ == "__main__":
    unittest.main()
