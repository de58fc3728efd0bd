"""Tensors of the CPU from allocators that the hooks of malloc see and from others, compared with what was done."""
import unittest

from tests.e2e.support import ROOT, SOURCES, compile_c, sum_sites
from tests.e2e.test_counts import Counts

FROM = {"malloc": "0", "the kernel": "1", "an arena": "2", "a shared arena": "3"}
ONCE = ("malloc", "the kernel", "an arena")  # of the host's heap, seen by the one way or the other


class CpuTensors(Counts):
    def setUp(self):
        super().setUp()
        self.library = compile_c(self, SOURCES / "lib/c10_cpu_like.c", self.path("libc10.so"), "-I", str(ROOT), "-fPIC", "-shared",
                                 "-pthread")

    def each(self, section):
        for where in ONCE:
            with self.subTest(where):
                yield where, *self.check("cpu_tensors", section, FROM[where], self.library)

    def test_each_block_is_counted_once_wherever_it_comes_from(self):
        for _, profile, did in self.each("plain"):
            self.assertEqual(sum_sites(profile.report, "subject_cpu", "mmap")["live_bytes"], 0,
                             "what an allocator hands out is not counted as its map, too")

    def test_threads_that_use_addresses_again(self):
        for _ in self.each("threads"):
            pass

    def test_a_child_that_frees_its_parents_blocks_takes_none_from_it(self):
        for where in ONCE:
            with self.subTest(where):
                profile, did = self.profiled("cpu_tensors", "forked", FROM[where], self.library)
                seen, said = sum_sites(profile.report, "subject_cpu", "host"), did["subject_cpu"]
                self.assertEqual(seen, {key: said[key] for key in seen})
                self.assertEqual(sum_sites(profile.report, "section_forked", "host")["allocations"], 3)

    def test_an_arena_of_shared_memory_stays_one_map(self):
        profile, did = self.profiled("cpu_tensors", "plain", FROM["a shared arena"], self.library)
        self.assertEqual(sum_sites(profile.report, "subject_cpu", "host")["allocations"], 0)
        self.assertEqual(sum_sites(profile.report, "subject_cpu", "shm")["live_bytes"], 1 << 20)

    def test_a_sample_is_scaled_up_once(self):
        for where in ONCE:
            with self.subTest(where):
                profile, did = self.profiled("cpu_tensors", "many", FROM[where], self.library,
                                             options=("--sample", "64KiB"))
                seen = sum_sites(profile.report, "subject_cpu", "host")
                self.assertAlmostEqual(seen["allocated_bytes"] / did["subject_cpu"]["allocated_bytes"], 1, delta=0.3)
                self.assertEqual(seen["live_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
