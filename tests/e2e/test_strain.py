"""Where a job strains the shim: stacks that come and go, crowds of threads, full profiles, no descriptors."""
import unittest

from tests.e2e.support import SYSTEM_PYTHON, SeepCase, has_module, needs, sum_sites


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


class Exhaustion(SeepCase):
    def test_what_comes_after_a_full_profile_is_counted_in_new_threads_and_children_too(self):
        report = self.run_seep([self.subject("exhaust"), "threads"], ("--max-profile", "1MiB")).report
        counts = sorted(p["spaces"]["host"]["allocations"] for p in report["processes"])
        self.assertEqual([n // 1000 for n in counts], [100, 100, 165], counts)
        said = " ".join(report["coverage"]["not_seen"])
        self.assertIn("max-profile", said)
        self.assertNotIn("no memory", said)
        # What is said to have no stack is what was counted without one.
        without = sum_sites(report, "[beyond the profile's bound]")["allocations"]
        self.assertEqual(report["job"]["dropped_events"], without)

    def test_a_lack_of_descriptors_passes(self):
        report = self.run_seep([self.subject("exhaust"), "descriptors"]).report
        self.assertGreater(sum_sites(report, "left")["allocations"], 20000 + 1000)
        self.assertNotIn("disk", " ".join(report["coverage"]["not_seen"]))

    @needs(has_module(SYSTEM_PYTHON, "torch"), "no torch here")
    def test_steps_are_seen_in_a_full_profile(self):
        with open(self.path("full.py"), "w") as f:
            f.write("import torch\n"
                    "src = '\\n'.join('def f%d(x): return [x, bytes(%d)]' % (i, 600 + i % 7) for i in range(4000))\n"
                    "names = {}\nexec(compile(src, 'many.py', 'exec'), names)\n"
                    "kept = [names['f%d' % i](i) for i in range(4000)]\n"
                    "m = torch.nn.Linear(8, 8)\no = torch.optim.SGD(m.parameters(), lr=.1)\n"
                    "for i in range(50):\n"
                    "    o.zero_grad()\n    m(torch.ones(4, 8)).sum().backward()\n    o.step()\n")
        job = self.run_seep([SYSTEM_PYTHON, self.path("full.py")], ("--max-profile", "1MiB"),
                            timeout=240).report["job"]
        self.assertGreater(job["dropped_events"], 0, "it must have been full")
        self.assertEqual(job["steps"], 50)


if __name__ == "__main__":
    unittest.main()
