"""Links of findings: each leads to the finding's own memory, even if other findings name the same sites, and whenever
it was live."""
import re
import unittest

from tests.browser.job_page import PageCase
from tests.browser.made_up import with_findings_that_ended, with_shared_sites


class SharedSites(PageCase):
    def open_shared(self, fragment):
        self.browser.open(self.made_up(with_shared_sites), fragment)

    def test_each_finding_of_a_site_has_its_graph_sites_and_band(self):
        self.open_shared("#findings")
        for number in range(1, 12):
            finding = "F%d" % number
            self.open_shared("#flame?measure=allocated&finding=" + finding)
            self.assertGreater(self.browser.run("return treeMade.tree.value"), 0, finding)
            self.open_shared("#sites?finding=" + finding)
            self.assertRegex(self.browser.text("main > p"), r", %s of" % ("10 stacks" if number == 1 else "1 stack"), finding)
            self.open_shared("#timeline?by=finding&finding=" + finding)
            self.assertRegex(self.browser.text(".legend"), r"(?m)^\s*(F\d+, )*%s\b" % finding, "of eleven each has a band")
        self.open_shared("#timeline?by=finding")
        self.assertRegex(self.browser.text(".legend"), r"F1, F2 job_page\.py")

    def test_bands_of_shared_sites_add_up(self):
        self.open_shared("#timeline?by=finding")
        total, alone = self.browser.run("""
            const at = (by) => areasOf(by, HOST, "steps"), n = stepRows.length - 1;
            return [d3.sum(at("finding"), (area) => area.values[n]), d3.sum(at("space"), (area) => area.values[n])];""")
        self.assertAlmostEqual(total / alone, 1, delta=0.01)

    def test_a_site_says_all_its_findings(self):
        self.open_shared("#sites?finding=F2&columns=finding&site=")
        self.assertIn("F1, F2", self.browser.text(".rows .row"))
        self.browser.click(".rows .row")
        self.assertEqual([link.text for link in self.browser.all("#site p a")][:2], ["F1", "F2"])

    def test_findings_that_a_text_names_are_links(self):
        self.open_shared("#findings")
        advice = self.browser.all("article .advice")[0]
        self.assertEqual([link.text for link in advice.find_elements("css selector", "a")], ["F2", "F2"], "no F77, no file F2.py")
        self.assertIn("See F2, not F77 nor F2.py.", advice.text)
        self.browser.run("document.querySelectorAll('article details').forEach((folded) => folded.open = true)")
        self.browser.click("article details li a")
        self.browser.wait(lambda: self.browser.fragment() == "#findings?finding=F2")


class WhereItIs(PageCase):
    def follow(self, finding, text):
        self.browser.open(self.made_up(with_findings_that_ended), "#findings")
        self.browser.run("[...document.querySelectorAll('#finding-' + arguments[0] + ' .links a')]"
                         ".find((a) => a.hash.startsWith('#' + arguments[1])).click()", finding, text)
        self.browser.arrive(text)

    def test_what_was_gone_before_the_end_opens_at_its_own_peak(self):
        self.follow("F1", "flame")
        self.assertEqual(self.browser.run("return treeMade.tree.value"), 10 << 20)
        self.assertEqual(self.browser.one("[aria-label='to step']").get_attribute("value"), "50")

    def test_what_never_lived_to_the_end_of_a_step_opens_with_its_peak(self):
        self.follow("F2", "flame")
        self.assertEqual(self.browser.run("return treeMade.tree.value"), 3 << 20)

    def test_what_is_kept_is_a_measure_of_its_own(self):
        self.open()
        self.browser.run("[...document.querySelectorAll('article .links a')].find((a) => a.hash.startsWith('#flame')).click()")
        self.browser.arrive("flame")
        self.assertIn("measure=kept", self.browser.fragment())
        kept = self.browser.run("return d3.sum(sitesOf(findings[0]), (i) => sites.retained_bytes[i])")
        self.assertGreater(kept, 60 * 65536)
        self.assertEqual(self.browser.run("return treeMade.tree.value"), kept)

    def test_an_empty_window_leads_to_where_the_finding_is(self):
        self.browser.open(self.made_up(with_findings_that_ended), "#flame?finding=F1&window=65-70")
        self.assertRegex(self.browser.text(".none"), r"Nothing of F1 was live at the end of step 70\.")
        self.browser.click(".none a")
        self.assertEqual(self.browser.run("return treeMade.tree.value"), 10 << 20)

    def test_its_course_is_the_whole_run_with_its_band(self):
        self.browser.open(self.made_up(with_findings_that_ended), "#findings?window=70-80")
        self.browser.run("[...document.querySelectorAll('article .links a')].find((a) => a.hash.startsWith('#timeline')).click()")
        self.browser.arrive("timeline")
        self.assertFalse(re.search("window=", self.browser.fragment()))
        self.assertIn("F1 ", self.browser.text(".legend"))


if __name__ == "__main__":
    unittest.main()
