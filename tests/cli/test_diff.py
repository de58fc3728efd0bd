"""`seep diff`: what changed, and both exit statuses."""
import unittest

from tests.cli.ci_jobs import LEAK_BYTES, CiCase


class Diff(CiCase):
    def test_the_largest_change_is_what_is_kept(self):
        diff = self.document("diff", self.fixed, self.leak, status=0)
        first = diff["sites"][0]
        self.assertEqual(first["frame"]["function"], "load")
        self.assertGreater(first["retained_bytes_change"], 45 * LEAK_BYTES)
        self.assertAlmostEqual(first["growth_change"], LEAK_BYTES, delta=0.02 * LEAK_BYTES)
        changes = [abs(s["retained_bytes_change"]) for s in diff["sites"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        back = self.document("diff", self.leak, self.fixed, status=0)["sites"][0]
        self.assertEqual(back["retained_bytes_change"], -first["retained_bytes_change"])

    def test_sorted_by_growth(self):
        diff = self.document("diff", self.fixed, self.leak, "--sort", "growth", status=0)
        changes = [abs(s["growth_change"]) for s in diff["sites"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertGreater(changes[0], 0)

    def test_two_runs_of_the_same_hardly_differ(self):
        diff = self.document("diff", self.fixed, self.profile("fixed-again", "fixed"), status=0)
        for site in diff["sites"]:
            self.assertLess(abs(site["retained_bytes_change"]), 64 * 1024, site["frame"])

    def test_text_names_the_line(self):
        done = self.seep("diff", self.fixed, self.leak)
        self.assertEqual((done.status, done.err), (0, ""), repr(done))
        self.assertRegex(done.stdout.decode(), r"(?m)^ +\+3\.\d MiB +\+6\d\.\d KiB  host   job.py:\d+ in load")

    def test_columns_are_aligned_and_no_row_is_zero(self):
        text = self.seep("diff", self.fixed, self.leak).stdout.decode()
        head, *rows = text.split("\n\n")[2].splitlines()
        self.assertEqual(head.split(), ["retained", "growth", "a", "step", "space", "line"])
        rows = [row for row in rows if not row.startswith("  and ")]
        self.assertGreater(len(rows), 0)
        for row in rows:
            self.assertRegex(row[:head.index("space")], r"\d")
            self.assertNotRegex(row, r"\b0 B\b")
            self.assertIn(row[head.index("space") - 2:head.index("space")], ("  ",), row)
            self.assertRegex(row[head.index("line"):], r"^\S", row)

    def test_other_jobs_are_compared_with_a_note(self):
        diff = self.document("diff", self.fixed, self.profile("other", "fixed", script="other.py"), status=0)
        self.assertIn("not the same job", diff["notes"][0])
        text = self.seep("diff", self.fixed, self.profile("other", "fixed", script="other.py")).stdout.decode()
        self.assertRegex(text.splitlines()[1], "note: not the same job: one ran job.py, the other other.py")

    def test_what_cannot_be_read_is_2(self):
        for what, folder in self.spoiled():
            if what == "cut":  # what is left of it can be compared
                continue
            with self.subTest(what=what):
                self.cannot("diff", folder, self.fixed, about=what)
                self.cannot("diff", self.fixed, folder, about=what)

    def test_wrong_usage_is_2(self):
        for args in ((), (self.leak,), (self.leak, self.fixed, "--sort", "name"),
                     (self.leak, self.fixed, "--format", "junit")):
            with self.subTest(args=args[2:]):
                self.cannot("diff", *args)


if __name__ == "__main__":
    unittest.main()
