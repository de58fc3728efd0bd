"""Deep stacks are complete, and with many stacks each counts its own blocks."""
from tests.e2e.support import SeepCase, functions


class Depth(SeepCase):
    def test_a_stack_of_600_frames_is_whole(self):
        profile = self.run_seep([self.subject("deep_stacks"), "600", "0"])
        site = max(profile.report["sites"], key=lambda site: site["peak_bytes"])
        self.assertEqual(site["live_bytes"], 1 << 20)
        names = functions(site)
        self.assertEqual(names.count("descend"), 600)
        self.assertEqual(names[600], "main")

    def test_a_stack_beyond_all_bounds_is_cut_at_its_outer_end(self):
        profile = self.run_seep([self.subject("deep_stacks"), "5000", "0"])
        site = max(profile.report["sites"], key=lambda site: site["peak_bytes"])
        self.assertEqual(site["live_bytes"], 1 << 20)
        self.assertGreater(functions(site).count("descend"), 600)

    def test_more_stacks_than_the_first_tables_hold_are_all_counted(self):
        profile = self.run_seep([self.subject("deep_stacks"), "1", "13"])
        branches = [site for site in profile.report["sites"] if "branch" in functions(site)]
        self.assertEqual(len(branches), 1 << 13)
        self.assertEqual({(site["allocations"], site["frees"], site["live_bytes"]) for site in branches},
                         {(3, 2, 40)})
