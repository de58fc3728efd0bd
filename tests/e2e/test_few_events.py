"""A job that allocates seldom, and much each time: what it keeps or loses has a verdict and a line all the same."""
import unittest

from tests.e2e.support import ROOT, SeepCase

ROUNDS, BYTES = 120, 1000000
SOURCE = (ROOT / "tests/subjects/few_events.c").read_text().splitlines()


class FewEvents(SeepCase):
    def findings_of(self, way):
        return self.run_seep([self.subject("few_events"), way]).report["findings"]

    def test_what_few_large_blocks_keep_or_lose_is_told_with_its_line(self):
        for way, patterns in (("kept", {"undetermined", "unbounded-growth"}), ("lost", {"unbounded-growth", "undetermined"})):
            with self.subTest(way):
                found = self.findings_of(way)[0]
                self.assertIn(found["pattern"], patterns)
                self.assertIn("LINE made", SOURCE[found["frame"]["line"] - 1])
                self.assertGreaterEqual(found["live_bytes"], 0.9 * ROUNDS * BYTES)
                state = (found["holders"] or {}).get("state")
                if way == "lost" and state == "lost":  # a snapshot was read in time
                    self.assertEqual((found["pattern"], found["severity"]), ("unbounded-growth", "leak"))

    def test_what_is_freed_at_once_is_no_finding(self):
        self.assertEqual([f["pattern"] for f in self.findings_of("freed") if f["severity"] != "info"], [])


if __name__ == "__main__":
    unittest.main()
