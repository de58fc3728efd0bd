"""What history.py is to tell apart: made-up histories, and what seep and the log of reports may say of them."""
import copy
import importlib.util
import pathlib
import tempfile
import unittest

SPEC = importlib.util.spec_from_file_location("gpu_torch_history", pathlib.Path(__file__).parent / "history.py")
history = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(history)

# Two turns of a block of 512 bytes, from the same total to the same total, and one block that stays.
HISTORY = [["segment_alloc", 0x7000, 2 << 20], ["alloc", 0x7000, 400],
           ["alloc", 0x7200, 512], ["free_requested", 0x7200, 512], ["free_completed", 0x7200, 512],
           ["alloc", 0x7400, 512], ["free_requested", 0x7400, 512], ["free_completed", 0x7400, 512]]
REPORTS = [(0x7000, 512, 512), (0x7200, 512, 1024), (0x7200, -512, 512), (0x7400, 512, 1024), (0x7400, -512, 512)]
SPACES = {"tensor:0": {"allocations": 3, "frees": 2, "live_bytes": 512, "peak_bytes": 1024},
          "device:0": {"allocated_bytes": 2 << 20}}


class History(unittest.TestCase):
    def said(self, reports=None, others=0, blocks=((0x7000, 512),), **changes):
        """The differences, where some of what seep counted is another number; without reports there is no log."""
        spaces = copy.deepcopy(SPACES)
        spaces["tensor:0"].update(changes)
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "reports"
            log.write_bytes(b"".join(history.REPORT.pack(at, size, total, 0) for at, size, total in reports or ()))
            return history.differences({"spaces": spaces}, {
                "history": [HISTORY], "blocks": [list(map(list, blocks))], "peak": [1024], "other_threads": others,
                "reports": str(log) if reports else None})

    def test_what_agrees_is_passed(self):
        self.assertEqual(self.said(), [])
        self.assertEqual(self.said(REPORTS), [])

    def test_each_count_is_held_to_the_history(self):
        for what in ("allocations", "frees", "live_bytes", "peak_bytes"):
            self.assertTrue(self.said(**{what: SPACES["tensor:0"][what] + 1}), what)

    def test_a_peak_of_many_threads_may_be_off_by_a_batch_of_each(self):
        self.assertEqual(self.said(others=2, peak_bytes=1024 + 2 * history.BATCH), [])
        self.assertTrue(self.said(others=2, peak_bytes=1025 + 2 * history.BATCH))

    def test_turns_that_changed_places_are_told_by_their_addresses(self):
        self.assertTrue(self.said(REPORTS[:1] + REPORTS[3:] + REPORTS[1:3]))

    def test_a_report_that_is_missing_or_of_another_size_is_told(self):
        self.assertTrue(self.said(REPORTS[:3]))
        self.assertTrue(self.said(REPORTS[:4] + [(0x7400, -256, 768)]))
        self.assertTrue(self.said(REPORTS[:4] + [(0x7400, -512, 500)]))

    def test_the_blocks_that_are_left_are_the_live_ones(self):
        self.assertTrue(self.said(REPORTS, blocks=[(0x7200, 512)]))


if __name__ == "__main__":
    unittest.main()
