"""The page of `seep view`, as people use it: by link, mouse and keyboard, and with hostile names."""
import os
import re
import unittest

from tests.browser.job_page import JOB, PageCase
from tests.browser.made_up import (just_begun, many_processes, with_a_device, with_a_near_limit, with_a_start,
                                   with_nothing)
from tests.browser.page import HOSTILE, STICKS_OUT, VIEWS, Keys

# Weights of the frames down to a depth, from each site's stack alone: {path: bytes}.
BY_HAND = """
const [kind, inverted, depth] = arguments, sums = {}, weight = weights(HOST, "allocated", windowOf(""), "");
for (let i = 0; i < nRowsWeighed; i++) {
    const list = framesOf(weighed.stack[i]).filter((f) => frame.isMadeUp(f) || kind === "both" || frame.isPython(f) === (kind === "python"))
        .map((f) => frame.file(f).startsWith("<frozen importlib") ? importFrame : f)
        .filter((f, n, all) => f !== importFrame || all[n + 1] !== importFrame);
    (inverted ? list : list.reverse()).slice(0, depth).forEach((_, d, all) => {
        const path = all.slice(0, d + 1).join(".");
        sums[path] = (sums[path] || 0) + weight[i];
    });
}
const tree = (inverted ? calleesTree : callersTree)([weight], kind), made = {};
const walk = (node, path) => path.length < depth && childrenOf(node, 0).forEach((child) => {
    made[[...path, child.frame].join(".")] = child.value;
    walk(child, [...path, child.frame]);
});
walk(tree, []);
return [Object.entries(sums).filter(([, n]) => n).sort(), Object.entries(made).sort()];
"""

# What is live at the job's end is not what filled its peak.
HUMP = """
import seep

kept = []


def fill():
    return [bytearray(100 * 1000) for _ in range(200)]


for step in range(60):
    if step == 20:
        passing = fill()
    if step == 30:
        del passing
    kept.append(bytearray(64 * 1024))
    seep.step()
"""

THREADS = '''import threading
import seep

kept = []


def loader(i):
    kept.append(bytearray(70000))
    kept.append(bytearray(300000))


for step in range(40):
    thread = threading.Thread(target=loader, args=(step,))
    thread.start()
    thread.join()
    seep.step()
'''

CONTROLS = "header a, header button, main a, main button:enabled, main select, main input, main summary"


class Views(PageCase):
    def test_every_view_is_reached_by_link_by_key_and_by_address(self):
        self.open()
        self.assertEqual(self.browser.text("nav a[aria-current]"), "Findings")
        for number, view in enumerate(VIEWS):
            self.browser.click("nav a", number)
            self.browser.arrive(view)
        for number, view in reversed(list(enumerate(VIEWS))):
            self.browser.keys(str(number + 1))
            self.browser.arrive(view)
            current = self.browser.text("nav a[aria-current]")
            self.open("#" + view)
            self.assertEqual(self.browser.text("nav a[aria-current]"), current)

    def test_a_finding_is_told_with_its_line_amount_and_way_on(self):
        self.open()
        text = self.browser.text("article.finding")
        line = 1 + JOB.splitlines().index("    return bytearray(64 * 1024)")
        self.assertIn("job_page.py:%d in load" % line, text.replace("\n", " "))
        self.assertRegex(text, r"grows by 64\.\d KiB a step")
        self.assertIn("To do", text)
        self.assertEqual(self.browser.text("article .source .here").strip(), "return bytearray(64 * 1024)")
        self.assertFalse(self.browser.one("article details").get_attribute("open"))
        self.browser.click("article .links a:last-child")
        self.browser.arrive("sites")
        self.assertRegex(self.browser.text(".rows .row"), "load")

    def test_the_timeline_shows_what_was_live_and_chooses_a_window(self):
        self.open("#timeline?by=finding")
        self.assertRegex(self.browser.text(".legend"), r"(?s)F1 .*job_page\.py.*no finding")
        self.assertEqual(len(self.browser.all(".chart .mark")), 4, "an epoch each")
        self.assertTrue(self.browser.all(".chart .rss"))
        for by in ("space", "part", "finding", "process"):
            for axis in ("steps", "seconds"):
                self.browser.choose("by", by)
                self.browser.choose("along", axis)
                total = self.browser.run(
                    "const a = areasOf(arguments[0], HOST, arguments[1]), rows = rowsOf(arguments[1]);"
                    "const n = rows.findIndex((r) => timeline.step[r] >= 40);"
                    "return [d3.sum(a, (x) => x.values[n]), ofSpaces(HOST, timeline.spaces, rows)[n]]", by, axis)
                self.assertAlmostEqual(total[0] / total[1], 1, delta=0.1, msg=(by, axis))
        self.browser.choose("by", "resident")
        self.assertRegex(self.browser.text(".legend"), r"(?s)malloc'd memory, live.*RSS")
        total = self.browser.run(
            "const rows = rowsOf('seconds'), areas = areasOf('resident', HOST, 'seconds'), n = Math.floor(rows.length * 0.8);"
            "return [d3.sum(areas, (x) => x.values[n]), timeline.rss_bytes[rows[n]]]")
        self.assertAlmostEqual(total[0] / total[1], 1, delta=0.1)
        self.browser.choose("along", "steps")
        self.browser.drag(".chart .overlay", 0.25, 0.5)
        window = re.search(r"window=(\d+)-(\d+)", self.browser.fragment())
        self.assertTrue(window, self.browser.fragment())
        self.assertAlmostEqual(int(window[1]), 20, delta=3)
        self.assertAlmostEqual(int(window[2]), 40, delta=3)
        self.browser.click("main .links a")
        self.browser.arrive("flame")
        self.assertIn("window=" + window[0][7:], self.browser.fragment())
        grown = self.browser.run("return treeMade.tree.value")
        self.assertAlmostEqual(grown / 65536, int(window[2]) - int(window[1]), delta=2)

    def test_a_device_is_seen_from_both_of_its_books(self):
        for memory, words, other in (("tensor:0", "tensors on GPU 0", "taken from the driver: GPU 0"),
                                     ("device:0", "GPU 0", "live: tensors on GPU 0")):
            self.browser.open(self.made_up(with_a_device), "#timeline?memory=" + memory)
            self.assertIn(other, self.browser.text(".legend"))
            self.assertIn("used on the GPU", self.browser.text(".legend"))
            self.assertIn(other, self.browser.text("table"))
            starts = [self.browser.run("return document.querySelector(arguments[0]).getBBox().x", ".chart path." + line)
                      for line in ("rss", "level")]
            self.assertGreater(starts[1], starts[0] + 50, "what was not known is not drawn")
            label = self.browser.one(".chart").get_attribute("aria-label").replace("\u00a0", " ")
            self.assertRegex(label, r"^%s by space, at most 1[4-9]\.\d MiB" % words)

    def test_a_limit_in_sight_is_a_line(self):
        for memory in ("host", "device:0"):
            self.browser.open(self.made_up(with_a_near_limit), "#timeline?memory=" + memory)
            self.assertEqual(len(self.browser.all(".chart path.limit")), 1, memory)
            self.assertRegex(self.browser.text(".legend"), r"limit \d+\.\d MiB(?!, above)")

    def test_time_has_marks_of_steps_and_what_came_before_them(self):
        self.browser.open(self.made_up(with_a_start), "#timeline?axis=seconds&by=part")
        self.assertGreater(len(self.browser.all(".step-mark")), 3)
        levels = self.browser.run("return [...bySites(HOST, d3.range(10), site.id).areas.find((one) => one.name === site.id(0)).values]")
        self.assertEqual(levels, [30 << 20] * 6 + [0] * 4)

    def test_steps_end_with_the_last_one(self):
        self.open("#timeline")
        last, shown, level = self.browser.run("""
            const a = areasOf("space", HOST, "steps").find((area) => area.name === "host");
            return [job.steps, timeline.step[stepRows[stepRows.length - 1]], a.values[a.values.length - 1]]""")
        self.assertLessEqual(shown, last)
        self.assertGreater(level, 0.9 * 80 * 65536, "what is given back at the job's end is no step's")

    def test_the_flame_graph_is_the_sum_of_its_stacks(self):
        self.open("#flame")
        for kind in ("python", "native", "both"):
            for inverted in (False, True):
                by_hand, made = self.browser.run(BY_HAND, kind, inverted, 4)
                self.assertGreater(len(made), 4, kind)
                self.assertEqual(made, by_hand, (kind, inverted))

    def test_the_flame_graph_says_whose_calls_and_how_much_matches(self):
        self.open("#flame?finding=F1&search=load")
        self.assertRegex(self.browser.text(".share"), r"^100 % match")
        self.assertTrue(self.browser.all(".frame.match"))
        names = [e.get_attribute("aria-label").split(" · ")[0] for e in self.browser.all("svg.flame g")][1:]
        self.assertEqual(names, ["<module>", "main", "load"])
        self.browser.choose("order", "1")
        names = [e.get_attribute("aria-label").split(" · ")[0] for e in self.browser.all("svg.flame g")][1:]
        self.assertEqual(names, ["load", "main", "<module>"])
        self.browser.choose("stacks", "both")
        both = len(self.browser.all("svg.flame g"))
        self.browser.choose("stacks", "native")
        self.assertGreater(both, 4)
        self.assertLess(len(self.browser.all("svg.flame g")), both)
        for measure in ("growth", "peak", "allocated"):
            self.browser.choose("measure", measure)
            self.assertGreater(self.browser.run("return treeMade.tree.value"), 60 * 65536, measure)

    def test_a_frame_says_how_many_allocations_it_made(self):
        for order in ("", "&inverted=1"):
            self.open("#flame?finding=F1" + order)
            self.browser.run("document.querySelector('svg.flame [tabindex=\"0\"]').focus()")
            for _ in range(4):
                self.assertRegex(self.browser.text(".told-frame"), r"; about [78]\d blocks of 64\.0 KiB; 8\d allocations in the run\b")
                self.browser.keys(Keys.ARROW_DOWN)

    def test_what_filled_the_peak_is_one_click_away(self):
        self.open(name="hump", source=HUMP)
        self.assertRegex(self.browser.text(".facts"), r"2\d\.\d MiB of host memory live at its peak, after step (29|30)\b")
        self.assertRegex(self.browser.text(".in-all summary"), r"Allocated in total.*: \d+\.\d MiB of host memory in [\d\u202f]+ allocations")
        self.assertRegex(self.browser.text(".at-peak"), r"after step (29|30): hump_page\.py:8 fill\S* 19\.\d MiB, ")
        self.browser.click(".in-all summary")
        most, often, brief = self.browser.all(".in-all li")
        self.assertRegex(most.text, r"^most bytes: hump_page\.py:8 fill\S* 19\.\d MiB, ")
        self.assertRegex(often.text, r"^most often: .*hump_page\.py:8 fill\S* 20\d times")
        self.assertNotIn(":8 fill", brief.text, "what lived for ten steps is not brief")
        self.assertRegex(self.browser.text(".in-all .bars").replace("\t", " "), r"64\.0 KiB to 128 KiB\s+2[6-9]\d")
        self.browser.click(".facts a")
        self.browser.arrive("flame")
        highest = lambda: self.browser.run("return treeMade.tree.value") / 1e6
        self.assertGreater(highest(), 20)
        self.assertTrue(self.browser.all("svg.flame g[aria-label^='fill ']"))
        self.assertRegex(self.browser.one("[aria-label='to step']").get_attribute("value"), r"^(29|30)$")
        [to_peak, whole] = self.browser.all(".window button")
        self.assertFalse(to_peak.is_enabled())
        whole.click()
        self.browser.settle()
        self.assertLess(highest(), 10)
        self.browser.keys("2")
        self.browser.arrive("timeline")
        self.browser.click(".window button")
        self.assertIn("window=peak", self.browser.fragment())
        self.assertRegex(self.browser.text(".links"), r"steps 0 to (29|30)(?!\d)")

    def test_a_window_is_dragged_above_the_flame_graph(self):
        self.open("#flame?finding=F1")
        whole = self.browser.run("return treeMade.tree.value")
        self.browser.drag(".chart .overlay", 0.1, 0.5)
        window = re.search(r"window=(\d+)-(\d+)", self.browser.fragment())
        self.assertTrue(window, self.browser.fragment())
        self.assertAlmostEqual(self.browser.run("return treeMade.tree.value") / whole, int(window[2]) / 80, delta=0.1)
        self.browser.click(".window button", 1)
        self.assertEqual(self.browser.run("return treeMade.tree.value"), whole)

    def test_zooming_has_a_way_back(self):
        self.open("#flame?finding=F1")
        self.browser.click("svg.flame g", 2)
        self.assertIn("zoom=", self.browser.fragment())
        self.assertEqual(self.browser.text(".crumb[aria-current]"), "main")
        address = self.browser.fragment()
        self.browser.driver.back()
        self.browser.wait(lambda: "zoom=" not in self.browser.fragment())
        self.browser.wait(lambda: self.browser.text(".crumb[aria-current]") == "all")
        self.open(address)
        self.assertEqual(self.browser.text(".crumb[aria-current]"), "main")

    def test_sites_are_filtered_sorted_and_opened(self):
        self.open("#sites")
        self.assertRegex(self.browser.text(".rows .row"), r"load")
        self.browser.one("main .search").send_keys("worker")
        self.browser.wait(lambda: "worker" in self.browser.text(".rows .row"))
        self.assertIn("search=worker", self.browser.fragment())
        self.open("#sites?sort=line&order=up")
        lines = self.browser.run("return linesInOrder('', '', 'line', false).map(LINE_COLUMNS[0].value)")
        self.assertEqual(lines, sorted(lines))
        self.browser.click("[data-key=allocated_bytes]")
        amounts = self.browser.run("return linesInOrder('', '', state.get('sort'), true)"
                                   ".map((line) => lineSum(line, 'allocated_bytes'))")
        self.assertEqual(amounts, sorted(amounts, reverse=True))
        self.open("#sites?search=load&finding=F1")
        self.browser.click(".rows .row")
        details = self.browser.text("#site")
        self.assertIn("Ages of freed blocks", details)
        self.assertRegex(details, r"(?s)Stack, innermost first.*load.*main")
        self.assertTrue(self.browser.all("#site .chart .level"))

    def test_sizes_and_threads_of_what_was_allocated(self):
        self.open("#sites?search=load", name="threads", source=THREADS)
        loader = "linesInOrder('loader', '', 'allocated_bytes', true).flatMap((line) => line.rows)"
        self.assertEqual(self.browser.run("return sizeClasses(%s.slice(0, 2)).classes" % loader), [[65536, 40], [262144, 40]])
        self.browser.run("state.set({site: site.id(%s[1])})" % loader)
        self.browser.settle()
        told = self.browser.text("#site")
        self.assertRegex(told.replace("\t", " "), r"64\.0 KiB to 128 KiB\s+40")
        self.assertRegex(told, r"; thread \d+ ")
        self.browser.run("document.querySelector('.sizes').open = true")
        self.browser.settle()
        self.assertIn("256 KiB to 512 KiB", self.browser.text(".sizes"))
        self.browser.run("state.set({search: 'loader', columns: 'threads,allocations'})")
        self.browser.settle()
        self.assertRegex(self.browser.text(".rows .row").replace("\n", " "), r"loader \d+ \S+")

    def test_columns_are_chosen_and_stand_in_the_address(self):
        def heads():
            return self.browser.run("return [...document.querySelectorAll('.head button')]"
                                    ".map((e) => e.textContent.replace('\\u200b', ''))")

        self.open("#sites")
        self.assertIn("allocations", heads())
        self.assertNotIn("median age", heads(), "one that has to be asked for")
        self.browser.click(".choose summary")
        self.browser.click(".choose input[value=age_p50]")
        self.assertIn("median age", heads())
        self.browser.click(".choose input[value=allocations]")
        self.assertNotIn("allocations", heads())
        self.assertIn("columns=space%2Cpart", self.browser.fragment())
        self.assertTrue(self.browser.one(".choose").get_attribute("open"), "and the choice stays open")
        self.open("#sites?columns=peak_bytes,finding&sort=peak_bytes")
        self.assertEqual(heads(), ["line", "peak", "finding"])
        self.browser.look(390)
        self.open("#sites?columns=peak_bytes,finding&sort=peak_bytes")
        self.assertEqual(heads(), ["line", "peak", "finding"])
        self.open("#sites")
        self.assertEqual(heads(), ["line", "kept", "growth/step"], "what a narrow screen has room for")
        self.browser.look(1280)
        self.browser.wait(lambda: "allocations" in heads(), "and a broad one")

    def test_numbers_are_in_order_as_a_sort_has_them(self):
        self.open("#sites")
        left = self.browser.run("""
            const keys = [0, -0, 3, -7, 1e300, -1e-300, 5e-324, 2 ** 53, -(2 ** 40), 3, 0.5, -0.5, -7, -Infinity];
            const rows = d3.range(5000), key = (i) => i < 14 ? keys[i] : (i * 7919) % 1009 - 500;
            const bad = [];
            for (const down of [false, true]) {
                const want = [...rows].sort((a, b) => (down ? key(b) - key(a) : key(a) - key(b)) || a - b);
                const got = inOrder(rows, key, down);
                if (want.some((i, n) => i !== got[n]))
                    bad.push(down);
            }
            return [...bad, ...inOrder(["b", "a", "c", "a"], (t) => t, true)];""")
        self.assertEqual(left, ["c", "b", "a", "a"])

    def test_processes_say_what_they_were_and_how_they_ended(self):
        self.open("#processes")
        cards = [e.text for e in self.browser.all(".process")]
        self.assertEqual(len(cards), 2)
        self.assertRegex(cards[0], "trainer.*ended normally")
        self.assertRegex(cards[0].replace("\u00a0", " "), r"; [\d.]+ s of CPU")
        self.assertRegex(cards[1], "ended with status 3")
        self.assertIn("ended with status 3", self.browser.text(".processes .processes .process"))

    def test_ranks_stand_side_by_side_below_who_started_them(self):
        self.browser.open(self.made_up(many_processes), "#processes")
        self.assertEqual(len(self.browser.all(".processes .processes > li")), 63)
        tops = self.browser.run("return [...document.querySelectorAll('.processes .processes > li')].slice(0, 2)"
                                ".map((e) => e.getBoundingClientRect().top)")
        self.assertEqual(tops[0], tops[1])
        self.browser.wait(lambda: self.browser.all(".process .chart"))
        self.assertLess(len(self.browser.all(".process .chart")), 30, "only charts near what is seen are drawn")
        self.browser.run("document.querySelectorAll('.process')[63].scrollIntoView()")
        self.browser.wait(lambda: self.browser.run("return document.querySelectorAll('.process')[63].querySelector('.chart') !== null"))
        self.browser.open(self.made_up(many_processes), "#timeline?by=process")
        self.assertIn("57 other processes", self.browser.text(".legend"))

    def test_a_job_of_which_nothing_was_seen_has_views_that_say_so(self):
        for view, said in (("findings", "No leak found"), ("timeline", ""), ("flame", "Nothing of host memory"), ("sites", "0 lines"),
                           ("processes", "")):
            for width in (1280, 390):
                self.browser.look(width)
                self.browser.open(self.made_up(with_nothing), "#" + view)
                self.assertIn(said, self.browser.text(), view)
                self.assertEqual(self.browser.run(STICKS_OUT), [], (view, width))

    def test_that_nothing_was_found_in_the_first_steps_is_no_result(self):
        self.browser.open(self.made_up(just_begun), "#findings")
        self.assertIn("Too early to tell: growth shows in 10 steps after the warm-up; this job has 0 so far.", self.browser.text())
        self.assertNotIn("No leak found", self.browser.text())


class Keyboard(PageCase):
    def test_search_help_and_theme_have_keys(self):
        self.open("#flame")
        self.browser.keys("/")
        self.assertEqual(self.browser.active()["class"], "search")
        self.browser.keys("load", Keys.ESCAPE)
        self.assertEqual(self.browser.active()["tag"], "body")
        self.assertIn("search=load", self.browser.fragment())
        for view in ("findings", "timeline", "processes"):  # they have none
            self.open("#" + view)
            self.browser.keys("/", "load")
            self.browser.arrive("flame")
            self.assertEqual(self.browser.active()["class"], "search")
            self.assertIn("search=load", self.browser.fragment())
            self.browser.keys(Keys.ESCAPE)
        self.browser.keys("?")
        self.assertTrue(self.browser.one("dialog").is_displayed())
        self.browser.keys(Keys.ESCAPE)
        self.assertFalse(self.browser.one("dialog").is_displayed())
        before = self.browser.run("return getComputedStyle(document.body).backgroundColor")
        self.browser.keys("d")
        self.assertNotEqual(self.browser.run("return getComputedStyle(document.body).backgroundColor"), before)
        self.browser.keys("d")

    def test_the_flame_graph_turns_round_by_key(self):
        self.open("#flame?finding=F1")
        top = lambda: self.browser.all("svg.flame g")[1].get_attribute("aria-label").split(" · ")[0]
        for name in ("<module>", "load", "<module>"):
            self.assertEqual(top(), name)
            self.browser.keys("i")
        self.open("#sites")
        self.browser.keys("i")
        self.assertEqual(self.browser.fragment(), "#sites")

    def test_arrows_move_in_the_flame_graph_and_enter_zooms(self):
        self.open("#flame?finding=F1")
        self.browser.run("document.querySelector('svg.flame [tabindex=\"0\"]').focus()")
        self.browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        self.assertRegex(self.browser.active()["label"], "^main ")
        self.assertIn("main ", self.browser.text(".told-frame"))
        self.browser.keys(Keys.ENTER)
        self.assertEqual(self.browser.text(".crumb[aria-current]"), "main")
        self.assertRegex(self.browser.active()["label"], "^main ")
        self.browser.keys(Keys.ESCAPE)
        self.assertEqual(self.browser.text(".crumb[aria-current]"), "<module>")
        self.browser.keys(Keys.ARROW_UP)
        self.assertRegex(self.browser.active()["label"], "^all")

    def test_arrows_move_in_the_table_and_enter_opens(self):
        self.open("#sites")
        self.browser.run("document.querySelector('.scroller').focus()")
        self.browser.keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
        self.assertIn("line=", self.browser.fragment())
        self.assertEqual(self.browser.one(".scroller").get_attribute("aria-activedescendant"), "row1")
        self.browser.keys(Keys.END)
        last = self.browser.run("return +document.querySelector('.scroller').getAttribute('aria-rowcount') - 2")
        self.browser.wait(lambda: self.browser.all("#row%d.active" % last))

    def test_tab_reaches_every_control(self):
        for view in VIEWS:
            self.open("#" + view)
            self.browser.run("document.querySelectorAll('details').forEach((folded) => folded.open = true)")
            for _ in range(len(self.browser.all(CONTROLS)) + 40):
                self.browser.keys(Keys.TAB)
                self.browser.run("document.activeElement.dataset.reached = '1'")
            left = self.browser.run("return [...document.querySelectorAll(arguments[0])]"
                                    ".filter((e) => !e.dataset.reached).map((e) => e.outerHTML.slice(0, 90))", CONTROLS)
            self.assertEqual(left, [], view)

    def test_a_choice_keeps_the_focus(self):
        self.open("#timeline")
        self.browser.run("document.querySelector('main select').focus()")
        self.browser.keys("p")  # the first that begins so: part
        self.assertEqual(self.browser.active()["tag"], "select")
        self.assertIn("by=part", self.browser.fragment())


class Untrusted(PageCase):
    def test_names_run_nothing(self):
        for view in VIEWS + ("flame?stacks=both&measure=allocated", "sites?search=script"):
            self.open("#" + view, name="hostile", source=HOSTILE)
            self.assertIsNone(self.browser.run("return window.harmed ?? null"), view)
            self.assertEqual(self.browser.run("return document.querySelectorAll('main img, main script').length"), 0)
            for width in (1280, 390):
                self.browser.look(width)
                self.open("#" + view, name="hostile", source=HOSTILE)
                self.browser.run("document.querySelectorAll('details').forEach((e) => e.open = true)")
                self.assertEqual(self.browser.run(STICKS_OUT), [], (view, width))
        self.assertIn("</script><script>window.harmed=1</script>",
                      self.browser.run("return texts.filter((t) => t.includes('harmed=1')).join()"))
        self.assertLess(os.path.getsize(self.page(name="hostile", source=HOSTILE)), 1 << 20)

    def test_an_address_runs_nothing(self):
        for fragment in ("#flame?search=%3Cimg%20src%3Dx%20onerror%3Dwindow.harmed%3D1%3E&zoom=x.y.-1",
                         "#sites?site=S0&sort=nothing", "#timeline?window=9-1&by=nothing&memory=nothing&axis=x",
                         "#nowhere?%", "#findings?pattern=<b>&finding=\"]"):
            self.open(fragment)
            self.assertIsNone(self.browser.run("return window.harmed ?? null"), fragment)
            self.assertTrue(self.browser.text(), fragment)


if __name__ == "__main__":
    unittest.main()
