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


class Crowds(SeepCase):
    def compared(self, section, threads):
        """The subject's number without seep and with it, each the least of three."""
        argv = [self.subject("crowd"), section, str(threads)]
        plain = min(int(self.command(argv).stdout) for _ in range(3))
        return plain, min(int(self.run_seep(argv).done.stdout) for _ in range(3))

    def test_a_thread_that_does_little_takes_little_memory(self):
        plain, seen = self.compared("rss", 400)
        self.assertLess(seen - plain, 30e6)

    def test_threads_without_counters_of_their_own_do_not_wait(self):
        plain, seen = self.compared("pairs", 1100)
        self.assertLess(seen - plain, 200e3, "µs for 22,000 pairs")

    def test_a_forked_child_does_not_copy_what_threads_had_learned(self):
        plain, seen = self.compared("fork", 300)
        self.assertLess(seen - plain, 6e6)


if __name__ == "__main__":
    unittest.main()
