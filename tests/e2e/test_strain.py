"""Where a job strains the shim: stacks that come and go, crowds of threads, full profiles, no descriptors."""
import unittest

from tests.e2e.support import SeepCase, sum_sites


class Fibres(SeepCase):
    def test_a_stack_whose_upper_part_is_gone_is_not_read(self):
        for section in ("shrink", "alternate"):
            profile = self.run_seep([self.subject("fibres"), section])
            self.assertEqual(profile.done.stdout, b"ok\n", repr(profile.done))

    def test_stacks_of_fibres_are_walked(self):
        report = self.run_seep([self.subject("fibres"), "alternate"]).report
        self.assertEqual(sum_sites(report, "allocate")["allocations"], 8000)
        self.assertEqual(sum_sites(report, "body")["allocations"], 8000)


if __name__ == "__main__":
    unittest.main()
