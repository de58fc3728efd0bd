"""The view of a device: segments, tensors and the free gaps between them, by mouse, keyboard and link."""
import os
import tempfile
import unittest

from tests.browser.page import STICKS_OUT, BrowserCase, Keys
from tests.e2e.caching_jobs import CachingCase

JOB = """
b = segment(4 * MIB)
a = segment(20 * MIB)
while a > b:  # the picture is in the order of addresses
    caching.caching_segment_gone(a)
    b, a = segment(4 * MIB), segment(20 * MIB)


def features():
    return tensor(a, 8 * MIB)  # FEATURES


def cameras():
    return [tensor(a + 10 * MIB, 2 * MIB), tensor(a + 12 * MIB, 2 * MIB)]  # CAMERAS


features(), cameras()
caching.caching_oom(0, 5 * MIB)
"""
# Whether a place in the picture, in bytes from its start, has the fill of that kind: by what lies under it.
FILL_AT = """
const map = mapOf(document.querySelector("svg.map").getBoundingClientRect().width, arguments[1]);
const row = Math.floor(arguments[0] / map.perRow), frame = document.querySelector("svg.map").getBoundingClientRect();
const x = frame.left + map.x(arguments[0] - row * map.perRow), y = frame.top + map.y(row) + 12;
const found = document.elementsFromPoint(x, y).find((e) => e.classList.contains("piece"));
return [found ? found.getAttribute("fill") : null, x, y];
"""


class Device(BrowserCase, CachingCase):
    _page = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls._folder = tempfile.TemporaryDirectory(prefix="seep-device-")
        cls.addClassCleanup(cls._folder.cleanup)

    def setUp(self):
        super().setUp()
        if not Device._page:
            profile = self.run_seep(self.argv(JOB), env=self.env(PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"))
            Device._page = os.path.join(self._folder.name, "device.html")
            done = self.seep("view", "-o", Device._page, profile.folder)
            self.assertEqual(done.status, 0, repr(done))

    def open(self, fragment="#device"):
        self.browser.open(self._page, fragment)

    def point(self, bytes):
        fill, x, y = self.browser.run(FILL_AT, bytes, 24 << 20)
        self.browser.run("document.querySelector('svg.map').dispatchEvent(new MouseEvent(arguments[0], "
                         "{clientX: arguments[1], clientY: arguments[2], bubbles: true}))", "mousemove", x, y)
        return fill, self.browser.text(".told-frame")

    def test_it_is_told_drawn_and_counted(self):
        self.open()
        story = self.browser.text(".story")
        self.assertIn("CUDA out of memory: 5.0 MiB requested.", story)
        self.assertIn("Settings of PyTorch's allocator: expandable_segments.", self.browser.text())
        self.assertRegex(story, r"24\.0 MiB of GPU 0( \(8\.0 GiB\))? were taken from the driver, in 2 segments: 12\.0 MiB hold tensors, .*4\.0 MiB do not")
        self.assertRegex(story, r"8\.0 MiB are free in 2 pieces, the largest 6\.0 MiB\. 25 % of the free memory cannot serve this")
        features, tensor = self.point(2 << 20), self.point((11 << 20))
        self.assertRegex(tensor[1], r"^2\.0 MiB at 0x[0-9a-f]+, segment 1 of 2 \(20\.0 MiB\): ")
        free, small = self.point(17 << 20), self.point(9 << 20)
        self.assertEqual(free[0], "var(--free)")
        self.assertRegex(free[1], "^6.0 MiB free")
        self.assertRegex(small[1], r"^2\.0 MiB free .* too small for the 5\.0 MiB requested")
        self.assertEqual(len({features[0], free[0], small[0]}), 3)
        tables = self.browser.text(".columns")
        self.assertRegex(tables.replace("\t", " "), r"job\.py:\d+ tensor 12\.0 MiB 50 % 3")
        self.assertRegex(tables.replace("\t", " "), r"4\.0 MiB to 8\.0 MiB 1 6\.0 MiB 25 %")

    def test_a_block_leads_to_its_site_and_finding(self):
        self.open()
        self.point(2 << 20)
        self.browser.click(".told-frame a")
        self.browser.arrive("sites")
        self.assertIn("tensor:0", self.browser.text("#site"))
        self.open("#findings")
        self.browser.run("[...document.querySelectorAll('article a')].find((a) => a.textContent === 'Device').click()")
        self.browser.arrive("device")

    def test_the_keyboard_goes_from_block_to_block_into_a_segment_and_out(self):
        self.open()
        self.browser.run("document.querySelector('svg.map').focus()")
        seen = []
        for _ in range(6):
            seen.append(self.browser.text(".told-frame"))
            self.browser.keys(Keys.ARROW_RIGHT)
        self.assertEqual([text.split(" ")[0] + (" free" if " free " in text else "") for text in seen],
                         ["8.0", "2.0 free", "2.0", "2.0", "6.0 free", "4.0"])
        self.browser.keys(Keys.ARROW_LEFT, Keys.ENTER)
        self.assertIn("segment=0", self.browser.fragment())
        self.assertIn("segment 1, 20.0 MiB", self.browser.text(".crumbs"))
        self.assertEqual(self.browser.active()["class"], "chart map")
        rows = self.browser.run("return document.querySelector('svg.map').getBoundingClientRect().height")
        self.browser.keys(Keys.ARROW_DOWN, Keys.ARROW_UP)
        self.assertRegex(self.browser.text(".told-frame"), r"^8\.0 MiB at")
        self.browser.keys(Keys.ESCAPE)
        self.assertNotIn("segment=", self.browser.fragment())
        self.assertGreater(rows, 100)

    def test_a_click_zooms_and_the_address_comes_back(self):
        self.open("#device?by=part&layout=0")
        fill, x, y = self.browser.run(FILL_AT, 22 << 20, 24 << 20)
        self.browser.run("document.querySelector('svg.map').dispatchEvent(new MouseEvent('click', "
                         "{clientX: arguments[0], clientY: arguments[1], bubbles: true}))", x, y)
        self.assertIn("segment=1", self.browser.fragment())
        self.browser.driver.back()
        self.browser.wait(lambda: "segment=" not in self.browser.fragment())
        self.browser.settle()
        self.assertIn("all segments", self.browser.text(".crumbs"))

    def test_every_layout_can_be_chosen(self):
        self.open()
        self.browser.choose("at", "0")
        self.assertIn("layout=0", self.browser.fragment())
        self.assertNotIn("Out of memory", self.browser.text(".story"))
        for by in ("line", "part", "finding"):
            self.browser.choose("colours by", by)
            self.assertTrue(self.browser.all("svg.map .piece"), by)

    def test_nothing_sticks_out_in_any_size_or_scheme(self):
        for width in (390, 760, 1280, 1900):
            for scheme in ("light", "dark"):
                for fragment in ("#device", "#device?segment=0"):
                    self.browser.look(width, 900, scheme)
                    self.open(fragment)
                    self.assertEqual(self.browser.run(STICKS_OUT), [], (width, scheme, fragment))

    def test_many_blocks_are_drawn_as_few_shapes(self):
        self.open()
        shapes, ms = self.browser.run("""
            const n = 87000, layout = {asked_bytes: 1 << 20, segments: {bytes: [], site: [], cache: [], small: [], address: [], tensors: []},
                tensors: {gap: [], bytes: [], site: []}};
            for (let s = 0; s < 870; s++) {
                layout.segments.bytes.push(2 << 20);
                layout.segments.site.push(1);
                layout.segments.cache.push(1);
                layout.segments.small.push(1);
                layout.segments.address.push("0x" + (0x7f0000000000 + s * (2 << 20)).toString(16));
                layout.segments.tensors.push(100);
                for (let t = 0; t < 100; t++) {
                    layout.tensors.gap.push(t % 7 * 512);
                    layout.tensors.bytes.push(512 * (1 + t % 20));
                    layout.tensors.site.push(1 + (s + t) % 9);
                }
            }
            piecesOf(layout);
            const begun = performance.now();
            pieceGroups(layout.pieces, "line");
            const paths = mapPaths(mapOf(1200, 870 * (2 << 20)), layout.pieces, 0);
            return [d3.sum([...paths.values()], (parts) => parts.length), performance.now() - begun];""")
        self.assertLess(shapes, 24 * 2 * 1200, "not more than half pixels")
        self.assertLess(ms, 5000, "a hundredth of it where nothing else runs")


if __name__ == "__main__":
    unittest.main()
