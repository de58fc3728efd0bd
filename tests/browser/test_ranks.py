"""The page of `seep view` of a digest of 8,000 ranks: one of them leaks, one was killed, four have no profile."""
import json
import os
import unittest

from tests.browser.page import STICKS_OUT, BrowserCase, Keys
from tests.cli.ci_jobs import ROOT, CiCase, validate
from tests.e2e.support import SYSTEM_PYTHON
from tests.many_ranks import many_ranks

NODES, PER_NODE, LEAKING, KILLED, MISSING = 1000, 8, 5283, 77, range(40, 44)
VIEWS = ("ranks", "findings", "timeline", "flame", "sites")
MOST_BYTES, MOST_ELEMENTS = 4 << 20, 4000
HOSTILE = "</script><script>window.harmed=1</script>"


class RanksCase(BrowserCase, CiCase):
    _pages, _one = {}, None

    def digest_of_one(self):
        """Of a rank that leaks; recorded once."""
        if RanksCase._one is None:
            RanksCase._one = self.recorded()
        return RanksCase._one

    def recorded(self):
        """By rank 0 of a launch of two."""
        folder = self.path("rank0.d")
        launched = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "0",
                    "TORCHELASTIC_RUN_ID": "made"}
        done = self.seep("run", "-q", "--no-report", "--holders", "off", "-o", folder, "--",
                         SYSTEM_PYTHON, "job.py", "leak", cwd=self._root, env={**os.environ, **launched})
        self.assertEqual(done.status, 0, repr(done))
        done = self.seep("digest", folder)
        self.assertEqual(done.status, 0, repr(done))
        return json.loads(done.stdout)

    def written(self, name, digest):
        path = os.path.join(self._root, name)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(digest, f, separators=(",", ":"))
        return path

    def page(self, name="ranks", change=None):
        """Of all ranks; `change` is made in the digest before."""
        if not os.path.exists(self._pages.get(name, "")):
            digest = many_ranks(self.digest_of_one(), NODES, PER_NODE, LEAKING, MISSING, KILLED)
            if change:
                change(digest)
            self.assertEqual(validate(ROOT / "docs/digest.schema.json", digest), [])
            done = self.seep("view", self.written(name + ".digest", digest))
            self.assertEqual((done.status, done.err), (0, ""))
            self._pages[name] = done.stdout.decode().strip()
        return self._pages[name]

    def open(self, fragment="", **page):
        self.browser.open(self.page(**page), fragment)


class Ranks(RanksCase):
    def test_the_leaking_rank_is_the_first_that_is_named(self):
        self.open()
        self.assertEqual(self.browser.run("return views.map((view) => view.name)"), list(VIEWS))
        first = self.browser.text(".remarks li")
        self.assertRegex(first, r"^rank 5283 \(process \d+ on node00660\) has .* of RSS at its peak")
        row = self.browser.text(".spread tbody tr")
        self.assertIn("F1 job.py:", row)
        self.assertIn("rank 5283 on node00660 alone, of 7\u202f996 ranks", row)
        facts = self.browser.text(".facts")
        self.assertIn("7\u202f996 of 8\u202f000 ranks; ▲ no profile of ranks 40 to 43", facts)
        self.assertIn("▲ 1 rank: killed by signal 9 (rank 77 on node00009)", facts)
        self.browser.click(".spread a")
        self.browser.arrive("findings")
        self.assertIn("rank 5283 on node00660 alone", self.browser.text("#finding-F1"))

    def test_the_map_has_its_cell_marked(self):
        self.open()
        cells = self.browser.all(".heat-cell")
        self.assertLessEqual(len(cells), 2048)
        of_it = "nodes 660 to 663, local rank 3: growth of what leaks or is kept 64.0 KiB a step at most"
        self.assertIn(of_it, self.browser.text(".told-frame"), "the outermost first, before anything is pointed at")
        fills = self.browser.run("const fill = (css) => document.querySelector(css).getAttribute('fill'); "
                                 "return ['660.3', '660.2', '0.0'].map((cell) => fill(`[data-cell='${cell}']`))")
        self.assertNotEqual(fills[0], fills[1])
        self.assertEqual(fills[1], fills[2])
        self.browser.run("document.querySelector('.heat').focus()")
        self.browser.keys(Keys.ARROW_RIGHT)
        self.assertIn("nodes 664 to 667, local rank 3", self.browser.text(".told-frame"))
        self.browser.keys(Keys.ARROW_UP)
        self.assertIn("nodes 664 to 667, local rank 2", self.browser.text(".told-frame"))

    def test_each_measure_is_shown_that_somebody_has(self):
        self.open("#ranks?of=rss_peak_bytes")
        self.assertEqual(self.browser.run("return rankCellMeasures"),
                         ["rss_peak_bytes", "growth_millibytes_per_step", "steps"])
        self.assertIn("nodes 660 to 663, local rank 3: RSS at its peak", self.browser.text(".told-frame"))
        self.browser.choose("of", "steps")
        self.assertIn("in each cell", self.browser.text(".heat-legend"))
        self.assertIn("of=steps", self.browser.fragment())
        titles = [card.text for card in self.browser.all(".distribution h3")]
        self.assertTrue(titles[0].startswith("RSS at its peak"), titles)
        self.assertTrue(any(title.startswith("malloc'd memory at its peak") for title in titles), titles)
        counts = [int(cell.text.replace("\u202f", "")) for cell in
                  self.browser.one(".distribution").find_elements("css selector", "td:last-child")]
        self.assertEqual(sum(counts), NODES * PER_NODE - len(MISSING))

    def test_what_a_digest_does_not_know_is_not_shown_as_zeros(self):
        self.open("#timeline")
        self.assertEqual(self.browser.all(".chart .rss"), [])
        self.assertNotIn("RSS", self.browser.text("main .legend"))
        self.open("#timeline?by=process&axis=seconds")
        self.assertEqual(self.browser.all(".chart .rss"), [])
        self.open("#sites")
        heads = [head.text for head in self.browser.all(".head button")]
        self.assertIn("processes", heads)
        self.assertFalse({"allocated", "allocations"} & set(heads), heads)
        self.open("#flame?measure=allocated")
        self.assertNotIn("allocated", self.browser.text("main .controls"))
        self.open("#findings")
        self.assertNotIn("Allocated in total", self.browser.text())
        self.assertNotRegex(self.browser.text(), r"\b0 (allocations|B of RSS)")

    def test_a_line_of_the_finding_has_its_course(self):
        self.open("#findings?finding=F1")
        self.browser.wait(lambda: self.browser.all("#finding-F1 .chart .area"))
        levels = self.browser.run("return levelsOf(sitesOf(findings[0]), [4, 56])")
        self.assertGreater(levels[1], 4 * max(levels[0], 1))

    def test_it_is_small_and_little_is_drawn(self):
        self.assertLess(os.path.getsize(self.page()), MOST_BYTES)
        for view in VIEWS:
            self.open("#" + view)
            self.assertLess(self.browser.run("return document.querySelectorAll('*').length"), MOST_ELEMENTS, view)

    def test_ten_times_the_ranks_draw_no_more(self):
        n = []
        for nodes in (NODES, 9 * NODES):
            digest = many_ranks(self.digest_of_one(), nodes, PER_NODE, LEAKING)
            done = self.seep("view", self.written("of_%d.digest" % nodes, digest))
            self.assertEqual((done.status, done.err), (0, ""))
            page = done.stdout.decode().strip()
            self.assertLess(os.path.getsize(page), MOST_BYTES)
            self.browser.open(page)
            self.assertIn("rank 5283 on node00660 alone", self.browser.text(".spread tbody tr"))
            n.append(self.browser.run("return document.querySelectorAll('*').length"))
        self.assertLess(n[1], 1.1 * n[0])

    def test_it_fits_every_screen(self):
        for width in (390, 1280, 1900):
            for scheme in ("light", "dark"):
                self.browser.look(width, 900, scheme)
                for view in VIEWS + ("ranks?of=rss_peak_bytes&colour=mean",):
                    self.open("#" + view)
                    self.assertEqual(self.browser.run(STICKS_OUT), [], "%s, %d wide, %s" % (view, width, scheme))

    def test_names_from_a_digest_are_text(self):
        def hostile(digest):
            digest["tops"][0]["processes"][0]["host"] = HOSTILE[:63]
            for row in digest["findings"] + digest["spaces"] + digest["ends"]:
                row["max"]["host"] = HOSTILE[:63]
            digest["commands"] = [HOSTILE]
            digest["tops"] = [top for top in digest["tops"] if (top["of"], top["end"]) != ("steps", "most")]
        for view in VIEWS:
            self.open("#" + view, name="hostile", change=hostile)
            self.assertIsNone(self.browser.run("return window.harmed ?? null"))
        self.open("#ranks", name="hostile", change=hostile)
        self.assertIn("<script>", self.browser.text())
        self.assertIn("steps 7\u202f996 ranks", [card.text for card in self.browser.all(".distribution h3")])

    def test_two_digests_are_compared(self):
        self.page()
        before, after = (self.written(name, many_ranks(self.digest_of_one(), 4, PER_NODE, leaking)) for name, leaking in
                         (("before.digest", 3), ("after.digest", 9)))
        done = self.seep("view", before, after)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(done.stdout.decode().strip(), after.replace(".digest", ".compare.html"))
        self.browser.open(done.stdout.decode().strip())
        self.assertEqual(self.browser.run("return views.map((view) => view.name)")[3:], list(VIEWS))
        self.open("#ranks")


if __name__ == "__main__":
    unittest.main()
