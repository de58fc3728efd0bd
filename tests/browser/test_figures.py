"""Pictures and numbers of the page are right, belong to one instant, and agree everywhere."""
import unittest

from tests.browser.job_page import PageCase
from tests.browser.made_up import (with_a_killed_job, with_a_late_sample, with_an_exec, with_one_sample, with_samples_of_two,
                                   with_spaces_in_turn)
from tests.browser.page import SLOPES


class Figures(PageCase):
    def test_levels_are_drawn_as_steps(self):
        """A slope would show values that never were."""
        for view in ("findings", "timeline", "timeline?axis=seconds&by=process", "timeline?by=part", "flame", "processes",
                     "sites?site=" + self.first_site()):
            self.open("#" + view)
            self.browser.wait(lambda: self.browser.all(".chart .area, .chart .level"), view)
            paths, slopes = self.browser.run(SLOPES)
            self.assertGreater(paths, 0, view)
            self.assertEqual(slopes, [], view)

    def first_site(self):
        self.open()
        return self.browser.run("return findings[0].sites[0]")

    def test_resident_memory_is_explained_at_one_instant_of_the_chart(self):
        self.browser.open(self.made_up(with_one_sample), "#timeline")
        self.assertEqual(self.browser.text("h2"), "What RSS was made of at step 40")
        rss = self.browser.run("return data.coverage.rss")
        rows = self.browser.text(".parts tbody")
        self.assertIn("unexplained", rows)
        for amount in (*rss["explained"].values(), rss["unexplained_bytes"], rss["seep_bytes"]):
            self.assertIn(self.browser.run("return bytesText(arguments[0])", amount).replace("\u00a0", " "), rows)
        self.assertAlmostEqual(sum(rss["explained"].values()) + rss["seep_bytes"] + rss["unexplained_bytes"], rss["peak_bytes"],
                               delta=0.01 * rss["peak_bytes"])
        self.assertRegex(self.browser.text(".legend"), r"RSS, all processes counts shared pages in each process; PSS peak 9\.0 MiB")
        for make in (with_samples_of_two, with_spaces_in_turn, with_a_late_sample):
            self.browser.open(self.made_up(make), "#timeline")
            self.assertFalse(self.browser.all(".parts"), "no instant of all, or none of the chart")
            self.browser.click("main > div a[href^='#processes']")
            self.browser.arrive("processes")
        self.assertIn("What RSS was made of after the last step: ", self.browser.text(".process details summary"))
        self.browser.click(".process details summary")
        self.assertIn("unexplained", self.browser.text(".process .parts"))

    def test_what_several_processes_share_counts_once_before_it_counts_often(self):
        self.browser.open(self.made_up(with_one_sample), "#findings")
        self.assertRegex(self.browser.text(".facts"), r"PSS peak 9\.0 MiB of .*; RSS peak 11\.0 MiB\n")
        self.browser.open(self.made_up(with_one_sample), "#processes")
        self.assertRegex(self.browser.text(".process"), r"PSS peak 9\.0 MiB, RSS peak \d+\.\d MiB; ")

    def test_the_peak_is_that_of_the_chart(self):
        """A space's own peak is another space's low: added up, or beside the chart, they say what never was."""
        self.browser.open(self.made_up(with_spaces_in_turn), "#findings")
        self.assertRegex(self.browser.text(".facts"), r"(?m)^40\.0 MiB of host memory live at its peak, after step \d+$")

    def test_a_finding_is_of_the_program_that_an_exec_made_of_a_process(self):
        self.browser.open(self.made_up(with_an_exec), "#findings")
        self.assertRegex(self.browser.text(".cards"), r"trainer \d+")
        self.assertNotRegex(self.browser.text(".cards"), r"helper \d+")

    def test_how_the_job_ended_is_said_in_words(self):
        self.browser.open(self.made_up(with_a_killed_job), "#findings")
        self.assertRegex(self.browser.text(".facts"), r"(?m)^\S+ s, killed by SIGKILL$")
        self.assertRegex(self.browser.text(".facts"), r"(?m)^2 processes, 1 failed$")

    def test_pictures_say_how_they_are_read(self):
        for view, said in (("timeline", "levels off"), ("flame", "Its width is the memory"), ("sites", "A row is a line of code")):
            self.open("#" + view)
            self.assertNotIn(said, self.browser.text(), "folded")
            self.browser.click(".how summary")
            self.assertIn(said, self.browser.text())


if __name__ == "__main__":
    unittest.main()
