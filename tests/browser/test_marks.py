"""The timeline marks what happened to the job: where memory ran out, peaks within a step, how it ended."""
import unittest

from tests.browser.job_page import PageCase
from tests.browser.made_up import with_a_device, with_a_killed_job, with_findings_that_ended

PLACE = """
const chart = document.querySelector(".chart"), box = chart.querySelector(arguments[0]).getBoundingClientRect();
return (box.left - chart.querySelector(".overlay").getBoundingClientRect().left) / chart.querySelector(".overlay").getBoundingClientRect().width;"""


def with_a_shortage(data):
    with_a_device(data)
    once = {"pid": data["processes"][0]["pid"], "space": "tensor:0", "source": "allocator", "step": 40, "asked_bytes": 5 << 20,
            "allocated_bytes": 0, "reserved_bytes": 0, "frame": None}
    data["out_of_memory"] = [once, dict(once, asked_bytes=1 << 20), dict(once, space="tensor:1", step=70)]


class Marks(PageCase):
    def test_where_memory_ran_out_is_marked_on_either_book_of_its_device(self):
        for memory in ("tensor:0", "device:0"):
            for axis in ("steps", "seconds"):
                self.browser.open(self.made_up(with_a_shortage), "#timeline?memory=%s&axis=%s" % (memory, axis))
                self.assertEqual(len(self.browser.all(".chart .shortage-mark")), 1, "that of another device is not")
                self.assertAlmostEqual(self.browser.run(PLACE, ".shortage-mark"), 0.5, delta=0.02 if axis == "steps" else 0.4)
            self.assertRegex(self.browser.text(".legend"), r"out of memory step 40, 5\.0 MiB requested, and 1 time more")
        self.browser.open(self.made_up(with_a_shortage), "#timeline?memory=host")
        self.assertFalse(self.browser.all(".chart .shortage-mark"))

    def test_the_end_says_how_it_was(self):
        self.open("#timeline")
        self.assertAlmostEqual(self.browser.run(PLACE, ".end-mark"), 1, delta=0.01)
        self.assertRegex(self.browser.text(".legend"), r"end of the job \(ended normally\)")
        self.assertFalse(self.browser.all(".end-mark.failed"))
        self.browser.open(self.made_up(with_a_killed_job), "#timeline?axis=seconds")
        self.assertTrue(self.browser.all(".chart .end-mark.failed"))
        self.assertRegex(self.browser.text(".legend"), r"end of the job \(killed by SIGKILL\)")

    def test_pages_that_workers_have_written_to_are_a_line_of_two_levels(self):
        def with_workers(data):
            data["findings"][0]["pattern"] = "cow-growth"
            data["processes"] += [dict(data["processes"][0], pid=900 + i, role="loader-worker", private={
                "first_step": 10, "first_bytes": 4 << 20, "last_step": 40, "last_bytes": 16 << 20}) for i in range(2)]

        self.browser.open(self.made_up(with_workers), "#timeline?memory=host&window=5-60")
        self.assertEqual(len(self.browser.all(".chart path.level")), 1)
        self.assertRegex(self.browser.text(".legend"), r"workers' own pages .*known at two looks of each")
        self.assertRegex(self.browser.text(".scroll-x"), r"workers' own pages\s+0 B\s+32\.0 MiB\s+\+32\.0 MiB")
        self.open("#timeline?memory=host")
        self.assertFalse(self.browser.all(".chart path.level"))

    def test_a_finding_that_no_end_of_a_step_shows_is_a_mark(self):
        self.browser.open(self.made_up(with_findings_that_ended), "#timeline?by=finding&finding=F2")
        self.assertEqual(len(self.browser.all(".chart .brief-mark")), 1)
        self.assertRegex(self.browser.text(".legend"), r"F2 \S+ .* within step \d+")
        self.browser.open(self.made_up(with_findings_that_ended), "#timeline?by=space")
        self.assertFalse(self.browser.all(".chart .brief-mark"))


if __name__ == "__main__":
    unittest.main()
