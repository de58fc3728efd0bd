"""The findings of the page: which line comes first, what is said about it, and the list that links to each."""
import copy
import unittest

from tests.browser.job_page import JOB, PageCase
from tests.browser.page import STICKS_OUT

MADE = 1 + JOB.splitlines().index("    return bytearray(64 * 1024)")
KEPT = 1 + JOB.splitlines().index("    kept.append(block)")
FAR = 1 + JOB.splitlines().index("        remember(load())")


def kept_at(data, *lines):
    file = data["findings"][0]["frame"]["file"]
    data["findings"][0]["kept_at"] = [{"file": file, "line": n, "function": "remember", "text": JOB.splitlines()[n - 1]} for n in lines]


def with_a_near_keeper(data):
    kept_at(data, KEPT)


def with_a_far_keeper(data):
    kept_at(data, FAR)


def with_its_own_keeper(data):
    kept_at(data, MADE)


def with_a_call_that_gets_it(data):
    kept_at(data, FAR)
    data["findings"][0]["passed_at"] = data["findings"][0].pop("kept_at")


def in_a_librarys_thread(data):
    data["findings"][0]["native_caller"] = {"library": "libcodec.so", "package": "fastcodec", "version": "1.2"}


def with_holders(data):
    path = {"text": "module-global 'kept' (list)", "bytes": 3 << 20, "blocks": 48}
    data["findings"][0]["holders"] = {"step": 48, "paths": [path], "length": [[12, 12], [48, 48]]}


def with_many_findings(data):
    """Twelve of the first finding, with a name that has no room in a line."""
    first = data["findings"][0]
    for n in range(2, 13):
        data["findings"].append({**copy.deepcopy(first), "id": "F%d" % n, "severity": ("leak", "retention", "pressure", "info")[n % 4],
                                 "title": "a" * 300 + ": grows"})


def with_an_empty_text(data):
    """A profile may name any line."""
    for excerpt in data["excerpts"]:
        excerpt["lines"] = ["", "  ", ""]


class Cards(PageCase):
    def told(self, make):
        """The lines of the first card, without what the first one offers (test_editor)."""
        self.browser.open(self.made_up(make))
        self.browser.run("document.querySelector('.offer').remove()")
        return [e.text.strip() for e in self.browser.all("article .where")]

    def test_the_title_and_the_pattern_are_words_apart(self):
        self.browser.open(self.made_up(with_a_near_keeper))
        title, pattern = self.browser.run("return [document.querySelector('article h2').textContent, findings[0].pattern]")
        self.assertTrue(title.endswith(" " + pattern), title)

    def test_a_call_that_may_have_taken_a_reference_comes_last(self):
        made, goes = self.told(with_a_call_that_gets_it)
        self.assertRegex(made, r"^Allocated at .*:%d in load$" % MADE)
        self.assertRegex(goes, r"^Goes to .*:%d in remember$" % FAR)

    def test_a_librarys_own_thread_is_said(self):
        made, = self.told(in_a_librarys_thread)
        self.assertTrue(made.endswith(" (fastcodec 1.2, in a thread without Python)"), made)

    def test_the_line_to_change_comes_before_the_line_that_made_it(self):
        kept, made = self.told(with_a_near_keeper)
        self.assertRegex(kept, r"^Kept at \S*job_page\.py:%d in remember$" % KEPT)
        self.assertRegex(made, r"^Allocated at \S*job_page\.py:%d in load$" % MADE)
        self.assertEqual(len(self.browser.all("article .source")), 1, "they are near each other: one text has both")
        self.assertEqual(self.browser.text("article .source .here").strip(), "kept.append(block)")
        self.assertEqual(self.browser.text("article .source .also").strip(), "return bytearray(64 * 1024)")
        self.assertIn(":%d" % KEPT, self.browser.text(".index code"))

    def test_lines_far_apart_have_a_text_each(self):
        self.assertEqual(len(self.told(with_a_far_keeper)), 2)
        texts = [e.text.strip() for e in self.browser.all("article .source .here")]
        self.assertEqual(texts, ["remember(load())", "return bytearray(64 * 1024)"])

    def test_a_line_that_makes_and_keeps_is_said_once(self):
        [place] = self.told(with_its_own_keeper)
        self.assertRegex(place, r"^Allocated and kept at \S*job_page\.py:%d in " % MADE)
        self.assertEqual(len(self.browser.all("article .source")), 1)

    def test_the_picture_of_a_finding_says_of_what_it_is(self):
        self.open()
        self.assertEqual(self.browser.text("article figcaption"), "Live memory allocated here")

    def test_a_text_of_empty_lines_is_not_shown(self):
        self.assertEqual(len(self.told(with_an_empty_text)), 1)
        self.assertFalse(self.browser.all("article .source"))

    def test_who_holds_it_says_when_that_was_seen(self):
        self.browser.open(self.made_up(with_holders))
        self.assertRegex(self.browser.text("article .told"), r"3\.0 MiB in 48 blocks\s+snapshot at step 48; its length went from 12 to 48")


class List(PageCase):
    def test_each_finding_is_a_line_that_leads_to_its_card(self):
        for width in (1280, 800, 390):
            self.browser.look(width, 800)
            self.browser.open(self.made_up(with_many_findings))
            lines = self.browser.all(".index a")
            self.assertEqual(len(lines), 12)
            self.assertTrue(all(line.size["height"] < 40 for line in lines), width)
            self.assertEqual(self.browser.run(STICKS_OUT), [], width)
            lines[8].click()
            self.browser.settle()
            self.assertIn("finding=F9", self.browser.fragment())
            top = self.browser.run("return document.getElementById('finding-F9').getBoundingClientRect().top")
            self.assertLess(abs(top), 10)
        self.browser.run("scrollTo(0, 0); state.set({window: '3-40'})")
        self.browser.settle()
        self.assertEqual(self.browser.run("return scrollY"), 0, "another choice leaves the reader where he is")
        self.browser.click(".index a", 8)
        self.assertLess(self.browser.run("return document.getElementById('finding-F9').getBoundingClientRect().top"), 10, "again")

    def test_what_stands_above_the_first_card_is_low(self):
        for width, most in ((1280, 240), (800, 330)):
            self.browser.look(width, 800)
            self.open()
            self.assertLess(self.browser.run("return document.querySelector('header').offsetHeight"), 50, width)
            self.assertLess(self.browser.run("return document.querySelector('article').getBoundingClientRect().top"), most, width)
            self.assertIn("job_page.py", self.browser.one("#job").get_attribute("title"), "and what was cut is there")


if __name__ == "__main__":
    unittest.main()
