"""Allocators of the program's own that can be full: what seep.h announces of them becomes the findings that PyTorch's
allocator gets."""
import unittest

from tests.e2e.support import ROOT, SeepCase, end_of

MIB = 1 << 20
SOURCE = (ROOT / "tests/subjects/own_pool.c").read_text().splitlines()


class OwnPools(SeepCase):
    def report_of(self, section, status=1):
        return self.run_seep([self.subject("own_pool"), section], status=status).report

    def out_of_memory(self, report):
        found = [f for f in report["findings"] if f["pattern"] == "out-of-memory"]
        self.assertEqual(len(found), 1, report["findings"])
        return found[0]

    def says(self, finding, text):
        self.assertIn(text, "\n".join(finding["evidence"]))

    def test_what_is_reserved_in_pieces_is_told_with_capacity_and_request(self):
        report = self.report_of("fragmented")
        found = self.out_of_memory(report)
        self.assertEqual((found["space"], found["limit_bytes"], found["shortage"]["cause"]), ("tensor:0", 64 * MIB, "fragmented"))
        self.assertEqual(found["title"], "Out of memory on GPU 0: 7.0 MiB requested; 16.0 MiB free, but in pieces of at most 2.0 MiB")
        self.says(found, "the job's own allocator had 48.0 MiB allocated, 16.0 MiB reserved but unallocated; the GPU has 64.0 MiB")
        self.says(found, "Unallocated memory lies in 8 pieces of at most 2.0 MiB")
        self.says(found, "Kept from before, 48.0 MiB: fragmented 48.0 MiB (100 %)")
        self.says(found, "The process then ended with exit status 1")
        self.assertEqual({k: found["shortage"][k] for k in ("asked_bytes", "allocated_bytes", "unallocated_bytes",
                                                            "unallocated_pieces", "largest_piece_bytes", "fits_bytes")},
                         {"asked_bytes": 7 * MIB, "allocated_bytes": 48 * MIB, "unallocated_bytes": 16 * MIB,
                          "unallocated_pieces": 8, "largest_piece_bytes": 2 * MIB, "fits_bytes": 0})
        self.assertIn("LINE refused", SOURCE[found["frame"]["line"] - 1])
        self.assertNotIn("PYTORCH", found["advice"])
        request = report["out_of_memory"][0]
        self.assertEqual((request["source"], request["reserved_bytes"]), ("program", 64 * MIB))
        self.assertEqual(report["devices"][0]["capacity_bytes"], 64 * MIB)

    def test_a_leak_in_a_pool_has_the_pools_capacity_as_its_limit(self):
        report = self.report_of("leak")
        leak = next(f for f in report["findings"] if f["severity"] == "leak")
        self.assertEqual((leak["space"], leak["limit_bytes"]), ("scratch", MIB))
        self.assertIn("LINE lost", SOURCE[leak["frame"]["line"] - 1])
        self.assertLess(leak["steps_to_limit"], 3)
        self.says(leak, "of 1.0 MiB capacity in use")
        found = self.out_of_memory(report)
        self.assertEqual((found["space"], found["shortage"]["cause"]), ("scratch", "filled"))
        self.assertTrue(found["title"].startswith("Out of memory in scratch: "), found["title"])
        self.says(found, "its capacity is 1.0 MiB")
        self.assertIn("Fix F1 first", found["advice"])
        self.assertEqual(report["spaces"]["scratch"]["capacity_bytes"], MIB)

    def test_refusals_that_the_program_lives_with_are_counted(self):
        report = self.report_of("caught", status=0)
        found = self.out_of_memory(report)
        self.assertEqual(end_of(report["processes"][0]), ("exit", 0))
        self.assertEqual(found["shortage"]["cause"], "too-large")
        self.says(found, "16 requests failed in steps 1 to 16, and then 84 more")

    def test_what_is_no_space_is_left_alone_and_the_last_capacity_counts(self):
        report = self.report_of("known", status=0)
        self.assertEqual((report["out_of_memory"], report["findings"]), ([], []))
        self.assertEqual({name: space["capacity_bytes"] for name, space in report["spaces"].items() if "capacity_bytes" in space},
                         {"device:1": 40 * MIB})


if __name__ == "__main__":
    unittest.main()
