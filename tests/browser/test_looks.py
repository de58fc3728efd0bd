"""How the page of `seep view` looks: in every size, light and dark, on paper, and with each kind of colour
blindness."""
import re
import unittest

from tests.browser.job_page import PageCase, hundred_thousand
from tests.browser.made_up import many_processes, with_a_device, with_broad_numbers
from tests.browser.page import STICKS_OUT, VIEWS
from tests.e2e.support import ROOT


# Contrast of each frame's text that is not looked for with its box, which lets the page's paper through.
DIMMED = """
const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
const light = (c) => c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const paper = rgb(getComputedStyle(document.body).backgroundColor);
return [...document.querySelectorAll(".frame.dim")].filter((e) => e.querySelector("text")).map((frame) => {
    const box = getComputedStyle(frame.querySelector("rect")), share = +box.opacity * +getComputedStyle(frame).opacity;
    const ink = getComputedStyle(frame.querySelector("text")), alpha = +ink.opacity * +getComputedStyle(frame).opacity;
    const back = rgb(box.fill).map((v, i) => share * v + (1 - share) * paper[i]);
    const [a, b] = [light(back), light(rgb(ink.fill).map((v, i) => alpha * v + (1 - alpha) * back[i]))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
});"""


# What has no room for what stands in it, where nothing can be scrolled or pointed at.
CUT = """
return [...document.querySelectorAll("header, main, header *, main *")].filter((e) => e.getClientRects().length && !e.closest("svg, .unseen") &&
    getComputedStyle(e).overflowX !== "visible" || e.scrollWidth > document.documentElement.clientWidth + 1)
    .filter((e) => !e.closest("svg, .unseen") && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1))
    .map((e) => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40));"""


class Looks(PageCase):
    def test_nothing_sticks_out_or_lies_on_another(self):
        states = ("sites?finding=F1&site=", "timeline?window=10-40&by=finding", "flame?stacks=both&inverted=1",
                  "timeline?by=part&axis=seconds", "timeline?by=process", "sites?columns=space,finding&sort=line")
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
        pairs += [("ink", "mark")] + [("frame-ink", box) for box in ("own", "library", "native", "made-up", "match", "grew", "shrank",
                                                                        "same")]
        for scheme in ("light", "dark"):
            self.browser.look(scheme=scheme)
            self.open()
            for pair, ratio in zip(pairs, self.browser.run(contrast, pairs)):
                self.assertGreaterEqual(ratio, 4.5, (scheme, pair))

    def test_the_broadest_numbers_have_room(self):
        for width in (390, 1280):
            self.browser.look(width)
            self.browser.open(self.made_up(with_broad_numbers), "#sites")
            self.assertEqual(self.browser.run(STICKS_OUT), [], width)
            self.assertIn("1023 MiB", self.browser.text(".rows .row"))

    def test_what_does_not_match_is_still_read(self):
        for scheme in ("light", "dark"):
            self.browser.look(scheme=scheme)
            self.open("#flame?search=nothing%20has%20this%20name")
            ratios = self.browser.run(DIMMED)
            self.assertGreater(len(ratios), 3)
            self.assertGreaterEqual(min(ratios), 4.5, scheme)

    def test_many_processes_and_devices_fit_too(self):
        for width in (390, 1280):
            self.browser.look(width)
            for make, view in ((many_processes, "processes"), (many_processes, "timeline?by=process&axis=seconds"),
                               (with_a_device, "timeline?memory=device:0")):
                self.browser.open(self.made_up(make), "#" + view)
                self.assertEqual(self.browser.run(STICKS_OUT), [], (view, width))

    def test_paper_is_not_wasted_and_nothing_is_left_out(self):
        for make, view, most in ((hundred_thousand, "sites", 9), (many_processes, "processes", 12), (hundred_thousand, "flame", 2)):
            self.browser.open(self.made_up(make), "#" + view)
            self.assertLessEqual(self.browser.pages_on_paper(), most, view)
            if view == "processes":
                self.assertEqual(len(self.browser.all(".process .chart")), 64)
            if view == "sites":
                self.assertLess(len(self.browser.all(".rows .row")), 100, "and the screen is as it was")

    def test_nothing_is_cut_on_paper_and_every_card_is_open(self):
        self.browser.look(700, 900, media="print")
        for view in ("findings", "timeline", "sites?site=" + self.first_site(), "processes"):
            self.open("#" + view)
            self.browser.run("dispatchEvent(new Event('beforeprint'))")
            self.browser.settle()
            self.assertEqual(self.browser.run(CUT), [], view)
            shut = self.browser.run("return document.querySelectorAll('main details:not([open], .choose, .how, .brief)').length")
            self.assertEqual(shut, 0, view)
            self.browser.run("dispatchEvent(new Event('afterprint'))")
            opened = self.browser.run("return document.querySelectorAll('main details[open]:not(.brief)').length")
            self.assertEqual(opened, 0, "as it was")

    def first_site(self):
        self.open()
        return self.browser.run("return findings[0].sites[0]")

    def test_paper_has_no_controls(self):
        self.browser.look(media="print")
        self.open()
        self.assertFalse(self.browser.one("nav").is_displayed())
        self.assertTrue(self.browser.one("article.finding").is_displayed())


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
