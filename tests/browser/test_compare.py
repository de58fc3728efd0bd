"""The page of `seep view BASE NEW`: two runs of a job side by side, in every size, by link and key, and with hostile names."""
import os
import re
import unittest

from tests.browser.made_up import rewritten
from tests.browser.page import HOSTILE, STICKS_OUT, BrowserCase, Keys
from tests.cli.ci_jobs import CiCase

JOB = '''import sys
import time
import seep

kept = []


def load():
    return bytearray(64 * 1024)


def cache():
    return bytearray(32 * 1024)


def main():
    for step in range(80):
        block = load()
        if sys.argv[1] == "before":
            kept.append(block)
        elif step > 10:
            kept.append(cache())
        seep.step()
        time.sleep(0.002)


main()
'''

# One line, called in three ways: one of them in the older run alone, one in the newer, one in both.
WAYS = '''import sys
import seep

kept = []

def make():
    return bytearray(64 * 1024)


def gone():
    return make()


def fresh():
    return make()


def stays():
    return make()


for step in range(80):
    if sys.argv[1] == "before":
        kept.append(gone())
        if step < 40:
            kept.append(stays())
    elif step < 40:
        kept.append(stays())
        if step < 20:
            kept.append(fresh())
    seep.step()
'''

OWN_VIEWS = ("comparison", "changes", "difference")
VIEWS = OWN_VIEWS + ("findings", "timeline", "flame", "sites", "processes")


class CompareCase(BrowserCase, CiCase):
    """Pages of two runs by name, made when they are first asked for."""

    _pages = {}

    def page(self, name="pair", source=JOB, runs=("before", "after")):
        path = self._pages.get(name)
        if not path or not os.path.exists(path):
            script = name + "_of_two.py"
            with open(os.path.join(self._root, script), "w") as f:
                f.write(source)
            folders = [self.profile("%s_%d_of_two" % (name, i), run, script=script) for i, run in enumerate(runs)]
            done = self.seep("view", *folders)
            self.assertEqual(done.status, 0, repr(done))
            path = self._pages[name] = folders[1] + "/compare.html"
        return path

    def open(self, fragment="", **kw):
        self.browser.open(self.page(**kw), fragment)


class Views(CompareCase):
    def test_comparison_comes_first_and_every_view_has_a_key_and_a_link(self):
        self.open()
        self.assertEqual([a.text for a in self.browser.all("nav a")][:len(OWN_VIEWS)],
                         [view.capitalize() for view in OWN_VIEWS])
        self.assertEqual(self.browser.text("nav a[aria-current]"), "Comparison")
        for number, view in reversed(list(enumerate(VIEWS))):
            self.browser.keys(str(number + 1))
            self.browser.arrive(view)
        for number, view in enumerate(VIEWS):
            self.browser.click("nav a", number)
            self.browser.arrive(view)

    def test_it_says_what_vanished_what_is_new_and_what_spaces_took(self):
        self.open()
        self.assertRegex(self.browser.text(".verdict"), "^not fixed: 1 finding vanished, 0 remain, 1 is new")
        self.assertRegex(self.browser.text(".compared.vanished"), r"(?s)− vanished .*load.*before.*grows by 64\.\d KiB a step")
        self.assertRegex(self.browser.text(".compared.new"), r"(?s)\+ new .*cache.*after.*grows by 32\.\d KiB a step")
        rows = [row.text for row in self.browser.all(".spaces tbody tr")]
        self.assertRegex(next(row for row in rows if row.startswith("host ")), r"MiB −\d\.\d MiB .*KiB −3\d\.\d KiB$")
        self.browser.click(".compared.new a")
        self.browser.arrive("findings")
        self.assertIn("cache", self.browser.text("article.finding"))

    def test_a_finding_that_vanished_is_told_as_it_was(self):
        def change(data):
            row = next(row for row in data["comparison"]["findings"] if row["state"] == "vanished")
            row["after"] = data["findings"][0]["id"]
        path = self.path("weaker.html")
        with open(self.page(), encoding="utf-8") as f, open(path, "w", encoding="utf-8") as out:
            out.write(rewritten(f.read(), change))
        self.browser.open(path)
        self.assertRegex(self.browser.text(".compared.vanished"), r"(?s)− vanished .*load.*before.*after.*finding F1")

    def test_a_run_beside_itself_has_changed_nowhere(self):
        self.open("#changes", name="same", runs=("before", "before"))
        self.open("", name="same", runs=("before", "before"))
        self.assertRegex(self.browser.text(".verdict"), "^not fixed: 0 findings vanished, 1 remains")
        self.assertTrue(self.browser.all(".compared.remains"))

    def test_changes_are_sorted_filtered_and_opened(self):
        self.open("#changes")
        rows = [row.text.replace("\n", " ") for row in self.browser.all(".rows .row")]
        self.assertRegex(rows[0], r"^pair_of_two.py:\d+ load host other 4\.\d MiB .* −4\.\d MiB ")
        self.assertRegex(rows[1], r"^pair_of_two.py:\d+ cache .* \+1\.\d MiB ")
        self.browser.choose("show", "new")
        self.assertIn("show=new", self.browser.fragment())
        self.assertIn("cache", self.browser.text(".rows .row"))
        self.assertNotIn(" load", self.browser.text(".rows"))
        self.browser.choose("show", "less")
        self.assertIn("load", self.browser.text(".rows .row"))
        self.browser.one("main .search").send_keys("nothing has this name")
        self.browser.wait(lambda: not self.browser.all(".rows .row"))
        for key in ("kept", "growth", "peak"):
            amounts = self.browser.run("return changedLines('', 'all', arguments[0], true)"
                                       ".map((line) => Math.abs(changeOf(arguments[0], line.rows)))", key)
            self.assertEqual(amounts, sorted(amounts, reverse=True), key)
        self.open("#changes?search=load")
        self.browser.click(".rows .row")
        self.assertRegex(self.browser.text("#pair"), r"(?s)growth a step.*Stack, innermost first.*load.*main")
        address = self.browser.fragment()
        self.open(address)
        self.browser.click("#pair p a")
        self.browser.arrive("sites")
        self.assertIn("load", self.browser.text("#site"))

    def test_stacks_of_one_line_are_one_row_and_unfold(self):
        self.open("#changes?search=make&show=all", name="ways", source=WAYS)
        row = self.browser.text(".rows .row").split("\n")
        self.assertEqual(len(self.browser.all(".rows .row")), 1, "three stacks, of which one is in BASE alone, one in NEW alone")
        self.assertRegex(row[0], r"ways_of_two\.py:7 make")
        self.assertRegex(self.browser.text("main > p"), r"^1 line, 3 stacks of \d")
        line = "changedLines('make', 'all', 'kept', true)[0]"
        base, new, change = self.browser.run("const rows = %s.rows; return [inBase('kept', rows), inNew('kept', rows), "
                                             "changeOf('kept', rows)]" % line)
        self.assertAlmostEqual(base / (110 * 64 * 1024), 1, delta=0.05, msg="of the last tenth of the steps it is the least")
        self.assertAlmostEqual(new / (60 * 64 * 1024), 1, delta=0.05)
        self.assertAlmostEqual(change, new - base, delta=1)
        self.browser.click(".rows .row")
        self.assertIn("line=", self.browser.fragment())
        folds = [e.text for e in self.browser.all("#pair .stack-fold")]
        self.assertEqual(len(folds), 3)
        self.assertRegex(folds[0], r"^−4\.\d MiB kept .*called from ways_of_two\.py:11 gone")
        self.assertFalse(self.browser.all("#pair .stack"), "frames come with the fold")
        self.browser.click("#pair .stack-fold summary")
        self.browser.wait(lambda: self.browser.all("#pair .stack"))
        one = self.browser.run("return %s.rows.find((i) => inBase('kept', [i]) === null)" % line)
        self.open("#changes?pair=%d" % one, name="ways", source=WAYS)
        self.assertRegex(self.browser.text("#pair .stack-fold[open]"), r"(?s)^\+.*make.*fresh.*<module>")

    def test_peaks_of_several_stacks_are_not_called_one(self):
        self.open("#changes?search=make&show=all", name="ways", source=WAYS)
        self.browser.click(".rows .row")
        self.assertIn("peaks of its stacks, added up", self.browser.text("#pair table"))
        self.open("#changes?search=load")
        self.browser.click(".rows .row")
        self.assertNotIn("added up", self.browser.text("#pair table"))

    def test_arrows_move_in_the_table_and_enter_opens(self):
        self.open("#changes")
        self.browser.run("document.querySelector('.scroller').focus()")
        self.browser.keys(Keys.ARROW_DOWN, Keys.ENTER)
        self.assertIn("line=", self.browser.fragment())
        self.assertIn("cache", self.browser.text("#pair h2"))


class Courses(CompareCase):
    def test_each_space_has_both_runs_on_one_axis(self):
        self.open()
        spaces = [e.text for e in self.browser.all(".courses h3")]
        self.assertEqual(spaces[0], "host", "the largest first")
        self.assertEqual(len(self.browser.all(".courses .chart")), len(spaces))
        ends = self.browser.run("""
            const chart = document.querySelector(".courses .chart"), base = chart.querySelector("path.base");
            const xs = [...base.getAttribute("d").matchAll(/[ML]([\\d.]+)/g)].map((m) => +m[1]);
            const area = chart.querySelector("path.area").getBBox();
            return [xs[xs.length - 1], area.x + area.width];""")
        self.assertAlmostEqual(ends[0], ends[1], delta=10, msg="both ran for the same steps, and end together")
        self.assertRegex(self.browser.text(".legend"), r"(?s)host in NEW.*BASE")
        dashes = self.browser.run("return getComputedStyle(document.querySelector('.courses path.base')).strokeDasharray")
        self.assertNotEqual(dashes, "none")

    def test_what_a_job_gives_back_at_its_end_is_no_fix(self):
        self.open()
        for side in ("was", "now"):
            values = self.browser.run("return comparedCourses.find((one) => one.space === 'host')[arguments[0]].values", side)
            self.assertGreater(values[-1], 0.9 * max(values), side)

    def test_levels_are_those_of_either_timeline(self):
        self.open()
        was, now = self.browser.run("const c = comparedCourses.find((one) => one.space === 'host'); "
                                    "return [d3.max(c.was.values), d3.max(c.now.values)]")
        self.assertGreater(was, 70 * 65536)
        self.assertLess(now, 60 * 65536)
        label = self.browser.one(".courses .chart").get_attribute("aria-label")
        for level in (was, now):
            self.assertIn(self.browser.run("return bytesText(arguments[0])", level), label)

    def test_a_space_that_one_run_lacks_is_nothing_there(self):
        self.open()
        self.assertEqual(self.browser.run("return courseOf(comparison.timeline, [0, 1], 'no such space', 0).values"), [0, 0])


class Difference(CompareCase):
    def names(self):
        return [e.get_attribute("aria-label").split(" · ")[0].split(":")[0] for e in self.browser.all("svg.flame g.frame")]

    def test_frames_of_both_runs_are_one_tree_with_what_changed(self):
        self.open("#difference")
        drawn = self.browser.all("svg.flame g.frame")
        text = {e.get_attribute("aria-label").split(" · ")[0]: e for e in drawn}
        for name, kind, sign, amounts in (("load", "shrank", "−", r"4\.\d\sMiB in BASE; .* in NEW \(−4\.\d\sMiB\)"),
                                          ("cache", "grew", "+", r"0\sB in BASE; 1\.\d\sMiB in NEW \(\+1\.\d\sMiB\)")):
            self.assertIn(kind, text[name].get_attribute("class").split())
            self.assertRegex(text[name].get_attribute("aria-label"), amounts)
            self.assertTrue(text[name].text.startswith(sign), "a sign besides the colour")
            hatch = self.browser.run("return arguments[0].querySelector('path').getAttribute('fill')", text[name])
            self.assertTrue(self.browser.all(hatch[4:-1] + " path"), "and a pattern")
        self.assertEqual(len([e for e in drawn if e.get_attribute("aria-label").startswith("main · pair_of_two.py")]), 1,
                         "one frame, although its line has two calls")

    def test_width_and_measure_are_chosen(self):
        self.open("#difference?width=new")
        self.assertIn("cache", self.names())
        self.browser.choose("width", "base")
        self.assertNotIn("cache", self.names())
        self.assertIn("load", self.names())
        for measure, step in (("growth", 65536), ("peak", 80 * 65536)):
            self.browser.choose("measure", measure)
            load = next(e for e in self.browser.all("svg.flame g.frame")
                        if e.get_attribute("aria-label").startswith("load "))
            was = self.browser.run("return d3.sum(pairs.look_at.map((f, i) => frames.name[f] === texts.indexOf('load') ? "
                                   "inBase(arguments[0], [i]) : 0))", measure)
            self.assertAlmostEqual(was / step, 1, delta=0.05)
            self.assertIn(self.browser.run("return bytesText(arguments[0])", was) + " in BASE",
                          load.get_attribute("aria-label"))

    def test_the_memory_is_that_of_what_was_found(self):
        def change(data):
            for row in data["comparison"]["findings"]:
                row["before"]["space"] = "tensor:0"
            data["comparison"]["spaces"].append({"space": "tensor:0", "before": None, "after": None})
            data["findings"], data["spaces"]["tensor:0"] = [], data["spaces"]["host"]
        path = self.path("device.html")
        with open(self.page(runs=("before", "before"), name="same"), encoding="utf-8") as f, open(path, "w", encoding="utf-8") as out:
            out.write(rewritten(f.read(), change))
        self.browser.open(path, "#difference")
        self.assertEqual(self.browser.run("return document.querySelector('main select').value"), "tensor:0")

    def test_search_says_how_much_matches_in_both(self):
        self.open("#difference?search=cache%20%C2%B7%20pair")
        self.assertRegex(self.browser.text(".share"), r"^0 B in BASE, 1\.\d MiB in NEW match")
        self.assertEqual(len(self.browser.all(".frame.match")), 1)

    def test_keys_move_and_zoom_and_the_address_is_a_link(self):
        self.open("#difference")
        self.browser.run("document.querySelector('svg.flame [tabindex=\"0\"]').focus()")
        self.browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
        self.assertEqual(self.browser.text(".crumb[aria-current]"), "main")
        address = self.browser.fragment()
        self.browser.keys(Keys.ESCAPE)
        self.assertEqual(self.browser.text(".crumb[aria-current]"), "<module>")
        self.open(address)
        self.assertEqual(self.browser.text(".crumb[aria-current]"), "main")

    def test_a_run_beside_itself_is_all_the_same(self):
        self.open("#difference?stacks=both", name="same", runs=("before", "before"))
        left = self.browser.run("const bad = []; const walk = (n) => { if (n.was && n.now && Math.abs(n.now - n.was) > "
                                "0.2 * n.was + 65536) bad.push(factsText(differenceFacts(n))); n.children.forEach(walk); };"
                                "walk(differenceTree(HOST, 'kept', 'both', 'both')); return bad")
        self.assertEqual(left, [])
        self.assertIn("same", self.browser.all("svg.flame g.frame")[0].get_attribute("class").split())

    def test_small_sites_of_both_runs_are_boxes_below_their_callers(self):
        self.open("#difference?stacks=both")
        drawn, known, small = self.browser.run("""
            const sum = (rows) => d3.sum(rows.space, (space, i) => memoryOfText(space) === HOST ? weightsOfPair(rows, i, "kept")[1] : 0);
            const find = (node) => node.frame === smallFrame ? node.now : d3.sum(node.children, find);
            const tree = differenceTree(HOST, "kept", "new", "both");
            return [tree.now, sum(pairs) + sum(comparison.small), find(tree) - sum(comparison.small)];""")
        self.assertEqual([drawn, small], [known, 0])

    def test_runs_of_which_nothing_is_known_have_an_empty_picture(self):
        bare = self.path("bare.html")
        with open(self.page(), encoding="utf-8") as f, open(bare, "w", encoding="utf-8") as out:
            out.write(rewritten(f.read(), lambda data: data["comparison"].update(spaces=[], findings=[], pairs={}, small={})))
        for view, said in (("comparison", "Neither run has a finding"), ("changes", "0 lines, 0 stacks of 0 of both runs"),
                           ("difference", "Neither run has memory in this measure")):
            self.browser.open(bare, "#" + view)
            self.assertIn(said, self.browser.text(), view)


class Keyboard(CompareCase):
    CONTROLS = "header a, header button, main a, main button:enabled, main select, main input"

    def test_tab_reaches_every_control(self):
        for view in OWN_VIEWS:
            self.open("#" + view)
            self.browser.run("document.querySelectorAll('details').forEach((folded) => folded.open = true)")
            for _ in range(len(self.browser.all(self.CONTROLS)) + 10):
                self.browser.keys(Keys.TAB)
                self.browser.run("document.activeElement.dataset.reached = '1'")
            left = self.browser.run("return [...document.querySelectorAll(arguments[0])]"
                                    ".filter((e) => !e.dataset.reached).map((e) => e.outerHTML.slice(0, 90))", self.CONTROLS)
            self.assertEqual(left, [], view)

    def test_the_keys_are_listed_by_the_views_that_there_are(self):
        self.open()
        self.browser.keys("?")
        self.assertRegex(self.browser.text("dialog"), "1 … %d\\s+comparison, changes, difference, findings" % len(VIEWS))


class Looks(CompareCase):
    STATES = OWN_VIEWS + ("changes?pair=0&show=all", "changes?pair=x&show=y&sort=z", "difference?stacks=both&search=f",
                          "difference?measure=x&width=y&stacks=z&zoom=a.b&memory=m")

    def check(self, widths, **kw):
        for width in widths:
            for scheme in ("light", "dark"):
                self.browser.look(width, 900, scheme)
                for view in self.STATES:
                    self.open("#" + view, **kw)
                    self.assertEqual(self.browser.run(STICKS_OUT), [], "%s, %d wide, %s" % (view, width, scheme))
                    self.assertIsNone(self.browser.run("return window.harmed ?? null"), view)
                    self.assertEqual(self.browser.run("return document.querySelectorAll('main img, main script').length"), 0)

    def test_nothing_sticks_out_or_lies_on_another(self):
        self.check((390, 760, 1280))

    def test_names_run_nothing(self):
        self.check((390, 1280), name="hostile", source=HOSTILE)
        self.assertIn("</script><script>window.harmed=1</script>", self.browser.run("return texts.join()"))
        pair = self.browser.run("return d3.range(nPairs).find((i) => framesOf(pairs.stack[i])"
                                ".some((f) => frame.name(f).includes('harmed=2')))")
        self.open("#changes?pair=%d" % pair, name="hostile", source=HOSTILE)
        self.assertIn("<img src=x onerror=window.harmed=2>", self.browser.text("#pair"))

    def test_titles_of_columns_are_whole(self):
        for key in ("line", "kept", "growth_base", "growth", "peak"):
            self.open("#changes?sort=" + key)
            cut = self.browser.run("return [...document.querySelectorAll('.head .cell')]"
                                   ".filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)")
            self.assertEqual(cut, [], key)

    def test_paper_shows_both_runs(self):
        self.browser.look(media="print")
        self.open()
        self.assertFalse(self.browser.one("nav").is_displayed())
        self.assertTrue(self.browser.one(".compared").is_displayed())


class Large(CompareCase):
    def test_a_hundred_thousand_pairs_are_at_hand(self):
        def change(data):
            pairs, stacks = data["comparison"]["pairs"], data["stacks"]
            own = len(pairs["space"])
            for column in pairs.values():
                column.extend(column[i % own] for i in range(own, 100000))
            for i in range(own, 100000):  # each below a callee of its own
                stacks["parent"].append(pairs["stack"][i % own])
                stacks["frame"].append(i % len(data["frames"]["name"]))
                pairs["stack"][i] = len(stacks["parent"]) - 1

        big = self.path("big.html")
        with open(self.page(), encoding="utf-8") as f, open(big, "w", encoding="utf-8") as out:
            out.write(rewritten(f.read(), change))
        self.browser.open(big, "#changes?show=all")
        self.assertRegex(self.browser.text("main > p"), r"^\d+ lines, 100\s000 stacks of 100\s000 of both runs")
        self.assertLess(len(self.browser.all(".rows .row")), 100, "only rows in sight exist")
        self.browser.open(big, "#difference?stacks=both")
        self.assertLess(len(self.browser.all("svg.flame g")), 8000, "only frames that can be seen exist")


if __name__ == "__main__":
    unittest.main()
