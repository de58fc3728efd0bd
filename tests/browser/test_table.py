"""The table of lines: the sums over several stacks of one line, and the links from a line to each of them."""
import unittest

from tests.browser.job_page import PageCase

# One line, called in three ways: what is kept by one, passing by the other, and a third that comes when that has gone.
WAYS = '''import seep

kept = []


def make(n):
    return bytearray(n)


def first():
    return make(50000)


def second():
    return make(8 << 20)


def a_function_with_a_name_that_is_so_long_that_no_table_on_any_screen_has_room_for_all_of_it_not_even_a_broad_one(n):
    return make(n)


for step in range(40):
    kept.append(first())
    if step == 10:
        passing = second()
    if step == 20:
        del passing
        passing = a_function_with_a_name_that_is_so_long_that_no_table_on_any_screen_has_room_for_all_of_it_not_even_a_broad_one(9 << 20)
    if step == 30:
        del passing
    seep.step()
'''
LINE = "linesInOrder('make', '', 'peak_bytes', true)[0]"


class Lines(PageCase):
    def open(self, fragment="", **kw):
        super().open(fragment, **{"name": "ways", "source": WAYS, **kw})

    def test_stacks_of_one_line_are_one_row(self):
        self.open("#sites?search=make")
        row = self.browser.text(".rows .row").split("\n")
        self.assertEqual(len(self.browser.all(".rows .row")), 1)
        self.assertRegex(row[0], r"ways_page\.py:7 make")
        self.assertEqual(row[3], "3")
        self.assertRegex(self.browser.text("main > p"), r"^1 line, 3 stacks of")

    def test_what_never_was_at_once_is_not_added_up(self):
        self.open("#sites?search=make")
        together, alone, largest = self.browser.run(
            "const line = %s; return [linePeak(line), d3.sum(line.rows, (i) => sites.peak_bytes[i]), "
            "d3.max(line.rows, (i) => sites.peak_bytes[i])]" % LINE)
        self.assertGreater(together, largest, "the first way had some beside the third")
        self.assertLess(together, largest + 40 * 51000)
        self.assertGreater(alone, together + (4 << 20))

    def test_a_line_unfolds_into_its_stacks(self):
        self.open("#sites?search=make")
        self.browser.click(".rows .row")
        self.assertIn("line=", self.browser.fragment())
        folds = self.browser.all("#site .stack-fold")
        self.assertEqual(len(folds), 3)
        self.assertRegex(folds[0].text, r"(?s)^1\.\d MiB kept, 40 allocations .*called from ways_page\.py:11 first")
        self.assertFalse(self.browser.all("#site .stack"), "frames come with the fold")
        self.browser.click("#site .stack-fold summary")
        self.browser.wait(lambda: self.browser.all("#site .stack"))
        self.assertRegex(self.browser.text("#site .stack"), r"(?s)make.*first.*<module>")
        one = self.browser.run("return site.id(%s.rows[1])" % LINE)
        self.open("#sites?site=" + one)
        self.browser.wait(lambda: self.browser.all("#site .stack"))
        self.assertIn(one, self.browser.text("#site .stack-fold[open] summary"), "an address of one stack unfolds that")

    def test_frames_say_what_their_lines_say(self):
        self.open("#sites?search=make&site=S0")
        self.browser.click(".rows .row")
        self.assertEqual(self.browser.text("#site pre.source"), "return bytearray(n)")
        self.browser.click("#site .stack-fold summary")
        self.browser.wait(lambda: self.browser.all("#site .stack"))
        said = [e.text for e in self.browser.all("#site .stack .said")]
        for text in ("return bytearray(n)", "return make(50000)", "kept.append(first())"):
            self.assertIn(text, said)

    def test_a_long_name_is_shortened_in_the_middle_and_whole_in_its_title(self):
        source = WAYS.replace("def make", "def make_with_a_name_that_is_longer_than_any_column_has_room_for_and_ends_in_zzz").replace(
            " make(", " make_with_a_name_that_is_longer_than_any_column_has_room_for_and_ends_in_zzz(")
        for width in (1280, 390):
            self.browser.look(width)
            self.open("#sites?search=make", name="long", source=source)
            cell = self.browser.one(".rows .row .cell")
            self.assertRegex(cell.text, r"^long_pa?.*….*zzz$")
            self.assertLessEqual(cell.get_attribute("scrollWidth"), cell.get_attribute("clientWidth"), "and has room")
            self.assertIn("any_column_has_room", cell.find_element("css selector", "bdi").get_attribute("title"))

    def test_columns_give_way_to_the_name_of_the_line(self):
        for width in (1280, 1000, 800):
            self.browser.look(width)
            self.open("#sites")
            self.assertGreater(self.browser.one(".rows .row .cell").size["width"], 220, width)
            heads = self.browser.text(".head")
            self.assertIn("kept", heads)
            self.assertIn("peak", heads, "before what says less")
            self.assertEqual("part" in heads, width == 1280)


if __name__ == "__main__":
    unittest.main()
