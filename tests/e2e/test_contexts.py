"""Allocations from places that are not a thread's ordinary stack: fibres, small signal stacks, after a jump."""
import unittest

from tests.e2e.support import SeepCase, functions, sum_sites

AFTER = 1000  # blocks that the subject makes when all is done


class Fibres(SeepCase):
    def test_every_allocation_of_2000_fibres_has_its_stack(self):
        n, rounds = 2000, 20
        report = self.run_seep([self.subject("fibre_pool"), str(n), str(rounds)]).report
        made = sum_sites(report, "in_a_fibre")
        self.assertEqual((made["allocations"], made["frees"]), (n * rounds, n * rounds))
        self.assertEqual(made["allocated_bytes"], n * rounds * 100)
        for site in report["sites"]:
            if "in_a_fibre" in functions(site):
                self.assertIn("fibre_main", functions(site))
        self.assertEqual(report["job"]["dropped_events"], 0)


class SmallSignalStacks(SeepCase):
    OURS = 512  # bytes of stack that seep needs to find out that there is no room

    def plain(self, size):
        return self.command([self.subject("signals"), "stack", str(size)])

    def test_a_handler_may_allocate_on_little_more_than_suffices_without_seep(self):
        """The least differs by a processor's registers: they all lie in a signal's frame."""
        least = next(size for size in range(1024, 1 << 16, 64) if self.plain(size).stdout == b"ok\n")
        for size in (least + self.OURS, least + 1024, least + 2048, least + 4096, least + 12288):
            profile = self.run_seep([self.subject("signals"), "stack", str(size)], status=None)
            self.assertEqual((profile.done.status, profile.done.stdout), (0, b"ok\n"),
                             "%d, %d alone: %r" % (size, least, profile.done))
            # Three from signals and one from a call, if not with their stacks then as ones without.
            self.assertEqual(sum_sites(profile.report, "afterwards")["allocations"], AFTER)
            seen = sum_sites(profile.report, "in_a_handler")["allocations"]
            self.assertGreaterEqual(seen + profile.report["job"]["dropped_events"], 4, size)


class Jumps(SeepCase):
    def test_a_jump_out_of_a_hook_leaves_the_thread_seen(self):
        """As timeouts do by siglongjmp: out of a wait, or of whatever the handler interrupted."""
        for call in ("waitpid", "waitid", "syscall", "prctl", "sem_trywait", "mprotect", "madvise"):
            argv = [self.subject("signals"), "jump", call]
            self.assertEqual(self.command(argv).stdout, b"ok\n", call)
            profile = self.run_seep(argv)
            self.assertEqual(profile.done.stdout, b"ok\n", call)
            made = sum_sites(profile.report, "afterwards")
            self.assertEqual((made["allocations"], made["allocated_bytes"]), (AFTER, 1000 * AFTER), call)


if __name__ == "__main__":
    unittest.main()
