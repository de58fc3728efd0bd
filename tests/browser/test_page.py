"""The page of `seep view`, as people use it: by link, mouse and keyboard, in every size, and with hostile names."""
import json
import os
import re
import unittest

from tests.browser.page import HOSTILE, STICKS_OUT, VIEWS, BrowserCase, Keys
from tests.cli.ci_jobs import CiCase
from tests.e2e.support import ROOT

JOB = '''"""A leak in four epochs, and a process beside."""
import os
import time
import seep

kept = []


def load():
    return bytearray(64 * 1024)


def remember(block):
    kept.append(block)


def worker():
    mine = [bytearray(100 * 1000) for _ in range(40)]
    os._exit(3 if len(mine) == 40 else 0)


def main():
    if os.fork() == 0:
        worker()
    os.wait()
    for step in range(80):
        if step % 20 == 0:
            seep.epoch()
        remember(load())
        seep.step()
        time.sleep(0.005)  # levels over time are those of some milliseconds


main()
'''

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

CONTROLS = "header a, header button, main a, main button:enabled, main select, main input, main summary"


class PageCase(BrowserCase, CiCase):
    """Pages by name, made when they are first asked for."""

    _pages = {}

    def page(self, name="job", source=JOB):
        path = self._pages.get(name)
        if not path or not os.path.exists(path):
            with open(os.path.join(self._root, name + "_page.py"), "w") as f:
                f.write(source)
            folder = self.profile(name + "_page", script=name + "_page.py")
            done = self.seep("view", folder)
            self.assertEqual(done.status, 0, repr(done))
            path = self._pages[name] = folder + "/view.html"
        return path

    def open(self, fragment="", **kw):
        self.browser.open(self.page(**kw), fragment)


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
        self.assertRegex(text, r"64\.\d KiB every step")
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
        for by in ("space", "role", "finding", "process"):
            for axis in ("steps", "seconds"):
                self.browser.choose("by", by)
                self.browser.choose("along", axis)
                total = self.browser.run(
                    "const a = areasOf(arguments[0], HOST, arguments[1]), rows = rowsOf(arguments[1]);"
                    "const n = rows.findIndex((r) => timeline.step[r] >= 40);"
                    "return [d3.sum(a, (x) => x.values[n]), ofSpaces(HOST, timeline.spaces, rows)[n]]", by, axis)
                self.assertAlmostEqual(total[0] / total[1], 1, delta=0.1, msg=(by, axis))
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
                self.assertRegex(self.browser.text(".told-frame"), r"; 8\d allocations in the run$")
                self.browser.keys(Keys.ARROW_DOWN)

    def test_what_filled_the_peak_is_one_click_away(self):
        self.open(name="hump", source=HUMP)
        self.assertRegex(self.browser.text(".facts"), r"2\d\.\d MiB of host at its peak, step (2\d|3[01])\b")
        self.assertRegex(self.browser.text(".facts"), r"allocated in all, [\d\u202f]+ allocations")
        self.assertRegex(self.browser.text(".at-peak"), r"after step (29|30), the fullest: hump_page\.py:8 fill\S* 19\.\d MiB, ")
        self.browser.click(".in-all summary")
        most, often = self.browser.all(".in-all li")
        self.assertRegex(most.text, r"^hump_page\.py:8 fill\S* 19\.\d MiB, ")
        self.assertRegex(often.text, r"hump_page\.py:8 fill\S* 20\d times")
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
        lines = self.browser.run("return sitesInOrder('', '', 'line', false).map(SITE_COLUMNS[0].value)")
        self.assertEqual(lines, sorted(lines))
        self.browser.click("[data-key=allocated_bytes]")
        amounts = self.browser.run("return sitesInOrder('', '', state.get('sort'), true)"
                                   ".map((i) => sites.allocated_bytes[i])")
        self.assertEqual(amounts, sorted(amounts, reverse=True))
        self.open("#sites?search=load&finding=F1")
        self.browser.click(".rows .row")
        details = self.browser.text("#site")
        self.assertIn("Ages of freed blocks", details)
        self.assertRegex(details, r"(?s)Stack, innermost first.*load.*main")
        self.assertTrue(self.browser.all("#site .chart .level"))

    def test_processes_say_what_they_were_and_how_they_ended(self):
        self.open("#processes")
        cards = [e.text for e in self.browser.all(".process")]
        self.assertEqual(len(cards), 2)
        self.assertRegex(cards[0], "trainer.*ended well")
        self.assertRegex(cards[1], "ended with status 3")
        self.assertGreater(self.browser.one(".process:nth-child(2)").get_attribute("aria-level"), "1")


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
        self.assertIn("site=", self.browser.fragment())
        self.assertEqual(self.browser.one(".scroller").get_attribute("aria-activedescendant"), "row1")
        self.browser.keys(Keys.END)
        last = self.browser.run("return +document.querySelector('.scroller').getAttribute('aria-rowcount') - 2")
        self.browser.wait(lambda: self.browser.all("#row%d.active" % last))

    def test_tab_reaches_every_control(self):
        for view in VIEWS:
            self.open("#" + view)
            for _ in range(len(self.browser.all(CONTROLS)) + 40):
                self.browser.keys(Keys.TAB)
                self.browser.run("document.activeElement.dataset.reached = '1'")
            left = self.browser.run("return [...document.querySelectorAll(arguments[0])]"
                                    ".filter((e) => !e.dataset.reached).map((e) => e.outerHTML.slice(0, 90))", CONTROLS)
            self.assertEqual(left, [], view)

    def test_a_choice_keeps_the_focus(self):
        self.open("#timeline")
        self.browser.run("document.querySelector('main select').focus()")
        self.browser.keys("r")  # the first that begins so: role
        self.assertEqual(self.browser.active()["tag"], "select")
        self.assertIn("by=role", self.browser.fragment())


class Looks(PageCase):
    def test_nothing_sticks_out_or_lies_on_another(self):
        states = ("sites?finding=F1&site=", "timeline?window=10-40&by=finding", "flame?stacks=both&inverted=1")
        for width in (390, 1280, 1900):
            for scheme in ("light", "dark"):
                self.browser.look(width, 900, scheme)
                for view in VIEWS + states:
                    if view.endswith("site="):
                        view += self.browser.run("return findings[0].sites[0]")
                    self.open("#" + view)
                    self.assertEqual(self.browser.run(STICKS_OUT), [], "%s, %d wide, %s" % (view, width, scheme))

    def test_texts_stand_out_from_what_is_behind_them(self):
        contrast = """
        const root = getComputedStyle(document.documentElement);
        const canvas = document.createElement("canvas").getContext("2d");
        const light = (name) => {
            canvas.fillStyle = root.getPropertyValue("--" + name);
            const n = parseInt(canvas.fillStyle.slice(1), 16), c = [n >> 16, n >> 8 & 255, n & 255].map((v) => v / 255)
                .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
        };
        return arguments[0].map(([a, b]) => [light(a), light(b)])
            .map(([a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));"""
        pairs = [(ink, paper) for ink in ("ink", "quiet", "link", "bad") for paper in ("paper", "card")]
        pairs += [("ink", "mark")] + [("frame-ink", box) for box in ("own", "library", "native", "match", "grew", "shrank",
                                                                        "same")]
        for scheme in ("light", "dark"):
            self.browser.look(scheme=scheme)
            self.open()
            for pair, ratio in zip(pairs, self.browser.run(contrast, pairs)):
                self.assertGreaterEqual(ratio, 4.5, (scheme, pair))

    def test_paper_has_no_controls(self):
        self.browser.look(media="print")
        self.open()
        self.assertFalse(self.browser.one("nav").is_displayed())
        self.assertTrue(self.browser.one("article.finding").is_displayed())


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


def blown_up(page, n):
    """The page with n sites: its own, again and again, each below a caller of its own."""
    head, text, tail = re.fullmatch(r'(.* id="data">\n)(.*?)(</script>.*)', page, re.S).groups()
    data = json.loads(text)
    sites, stacks = data["sites"], data["stacks"]
    own = len(sites["id"])
    for column in sites.values():
        column.extend(column[i % own] for i in range(own, n))
    frames = len(data["frames"]["name"])
    for i in range(own, n):
        sites["id"][i] = len(data["texts"])
        data["texts"].append("S%d" % (1000000 + i))
        stacks["parent"].append(sites["stack"][i % own])
        stacks["frame"].append(i % frames)
        sites["stack"][i] = len(stacks["parent"]) - 1
    return head + json.dumps(data, separators=(",", ":")).replace("<", "\\u003c") + tail


class Large(PageCase):
    def test_a_hundred_thousand_sites_are_at_hand(self):
        big = self.path("big.html")
        with open(self.page(), encoding="utf-8") as f:
            text = blown_up(f.read(), 100000)
        with open(big, "w", encoding="utf-8") as f:
            f.write(text)
        for view in VIEWS:
            self.browser.open(big, "#" + view)
        self.browser.open(big, "#sites")
        self.assertIn("100000 sites", re.sub(r"\s", "", self.browser.text("main > p")).replace("sites", " sites"))
        self.assertLess(len(self.browser.all(".rows .row")), 100, "only rows in sight exist")
        self.browser.run("document.querySelector('.scroller').focus()")
        self.browser.keys(Keys.END)
        self.browser.wait(lambda: self.browser.all("#row99999.active"))
        self.browser.open(big, "#flame?stacks=both")
        self.assertLess(len(self.browser.all("svg.flame g")), 8000, "only frames that can be seen exist")


class Palette(unittest.TestCase):
    """Neighbours in the palette stay apart for eyes that lack a kind of cone (Machado et al., 2009, severity 1)."""

    KINDS = {
        "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
        "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
        "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
    }

    def lab(self, colour, kind):
        rgb = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        rgb = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
        if kind:
            rgb = [min(1, max(0, sum(m * v for m, v in zip(row, rgb)))) for row in self.KINDS[kind]]
        x = (0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.9505
        y = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]
        z = (0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.089
        f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
        return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])

    def test_no_two_colours_are_one(self):
        colours = re.findall(r'"(#[0-9a-f]{6})"', (ROOT / "viewer/page/palette.js").read_text())
        self.assertEqual(len(colours), 8)
        for kind in (None, "protan", "deutan", "tritan"):
            labs = [self.lab(colour, kind) for colour in colours]
            for i, a in enumerate(labs):
                for j, b in enumerate(labs[:i]):
                    apart = sum((p - q) ** 2 for p, q in zip(a, b)) ** 0.5
                    self.assertGreater(apart, 10, (kind, colours[i], colours[j]))

    def test_areas_differ_by_pattern_too(self):
        hatches = re.search(r"HATCHES = \[(.*?)\];", (ROOT / "viewer/page/palette.js").read_text())[1].split(", ")
        self.assertEqual(len(set(hatches)), 7)


if __name__ == "__main__":
    unittest.main()
