"""The page of `seep view --serve` in a browser: it follows a running job, and keeps the reader's place."""
import os
import re
import signal
import unittest

from tests.browser.page import STICKS_OUT, VIEWS, BrowserCase, Keys
from tests.cli.serving import ServeCase, Server
from tests.e2e.caching_jobs import CachingCase

STEP = r"live, step ([\d\u202f]+), "


class FollowingCase(BrowserCase, ServeCase):
    """A running job and a server that follows it."""

    def setUp(self):
        super().setUp()
        self.folder = self.path("run.d")
        os.mkdir(self.folder)
        self.start_job(self.folder)
        self.server = self.serve(self.folder, "--serve")
        self.server.look(until=lambda data: data.get("job", {}).get("steps", 0) > 5 and data["findings"])

    def open(self, fragment=""):
        self.browser.driver.get("about:blank")
        self.browser.driver.get(self.server.url + fragment)
        self.browser.wait(lambda: self.browser.all("nav a"))
        self.browser.settle()

    def complaints_of_others(self):
        """What the browser says but for what it asked this server."""
        own = self.server.url.rstrip("/")
        return [said for said in self.browser.complaints() if not said.startswith("asks for " + own)]

    def tearDown(self):
        self.browser.driver.get("about:blank")  # before the server ends
        self.assertEqual(self.complaints_of_others(), [])
        ServeCase.tearDown(self)

    def mark(self):
        return self.browser.text(".live")

    def steps(self):
        return self.browser.run("return job.steps")

    def version(self):
        return self.browser.run("return live.version")

    def newer(self, n=1):
        """Waits for data of a later look."""
        version = self.version()
        self.browser.wait(lambda: self.version() >= version + n, "no newer data is drawn")
        self.browser.settle()


class Follows(FollowingCase):
    def test_numbers_grow_without_loading_anew(self):
        self.open()
        self.browser.run("window.loadedOnce = true")
        self.assertRegex(self.mark(), STEP)
        facts, steps = self.browser.text(".facts"), self.steps()
        self.newer()
        self.assertGreater(self.steps(), steps)
        self.assertNotEqual(self.browser.text(".facts"), facts)
        self.assertIn("%d steps" % self.steps(), re.sub(r"\u202f", "", self.browser.text(".facts")))
        self.browser.wait(lambda: str(self.steps()) in re.sub(r"\u202f", "", self.mark()))
        self.assertTrue(self.browser.run("return window.loadedOnce"))

    def test_every_view_is_drawn_anew(self):
        for view in VIEWS:
            self.open("#" + view)
            before = self.browser.text("main")
            self.newer()
            self.browser.wait(lambda: self.browser.text("main") != before, view)
            self.browser.arrive(view)

    def test_names_run_nothing(self):
        self.open("#sites")
        self.newer()
        self.assertIn("</script><script>window.harmed=1</script>", self.browser.run("return texts.join()"))
        self.assertIsNone(self.browser.run("return window.harmed ?? null"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('main img, main script').length"), 0)

    def test_nothing_sticks_out_or_lies_on_another(self):
        for width in (390, 1280):
            self.browser.look(width)
            for view in VIEWS:
                self.open("#" + view)
                self.assertEqual(self.browser.run(STICKS_OUT), [], (width, view))

    def test_a_job_that_begins_is_waited_for(self):
        folder = self.path("later.d")
        os.mkdir(folder)
        self.end_job()
        self.server = self.serve(folder, "--serve")
        self.browser.driver.get(self.server.url)
        self.browser.wait(lambda: "waits for the job" in self.browser.text("body"))
        os.remove(self.stop)
        self.start_job(folder)
        self.browser.wait(lambda: self.browser.all("nav a"))
        self.browser.wait(lambda: re.search(STEP, self.mark()), "no step")


class Stays(FollowingCase):
    def test_filter_order_row_scroll_and_what_is_open(self):
        self.browser.look(1280, 260)  # so low that few lines scroll
        self.open("#sites?sort=allocations&order=down")
        self.browser.click(".rows .row", 1)
        opened = self.browser.text("#site-title")
        self.browser.one("main .search").send_keys("job")
        search = self.browser.run("return document.activeElement.value")
        self.browser.run("document.activeElement.setSelectionRange(1, 2)")
        self.browser.run("document.querySelector('.scroller').scrollTop = 150; scrollTo(0, 77)")
        self.browser.settle()
        place = "return [document.querySelector('.scroller').scrollTop, scrollY]"
        before = self.browser.run(place)
        self.assertGreater(min(before), 0)
        self.newer(2)
        self.assertEqual(self.browser.run(place), before)
        self.assertEqual(self.browser.text("#site-title"), opened)
        self.assertEqual(self.browser.active()["class"], "search")
        marked = "const e = document.activeElement; return [e.value, e.selectionStart, e.selectionEnd]"
        self.assertEqual(self.browser.run(marked), [search, 1, 2])
        self.assertTrue(self.browser.all("#row1.active") or before[0] > 0)
        fragment = self.browser.fragment()
        for part in ("sort=allocations", "order=down", "search=job", "line="):
            self.assertIn(part, fragment)

    def test_a_site_is_found_again_whatever_its_number(self):
        self.open("#sites")
        self.browser.run("""
            const i = findings[0].sites.map((id) => siteNumber.get(id))[0];
            state.set({site: site.id(i)});
            live.paused = true;
        """)
        title = self.browser.text("#site-title")
        self.browser.run("""
            // The next data numbers sites, findings and frames the other way round.
            const turned = JSON.parse(JSON.stringify(data)), n = nSites;
            turned.texts = turned.texts.map((text) => /^S[0-9]+$/.test(text) ? "S" + (100000 - text.slice(1)) : text);
            turned.findings.reverse().forEach((f, k) => { f.id = "F" + (k + 1);
                f.sites = f.sites.map((id) => "S" + (100000 - id.slice(1))); });
            const last = turned.frames.name.length - 1;
            for (const column of Object.values(turned.frames)) column.reverse();
            turned.stacks.frame = turned.stacks.frame.map((f) => last - f);
            turned.sites.look_at = turned.sites.look_at.map((f) => f < 0 ? f : last - f);
            live.paused = false;
            takeNews({...turned, live: {...turned.live, version: live.version}}, null);
        """)
        self.assertEqual(self.browser.text("#site-title"), title)

    def test_the_zoom_and_the_focus_of_the_flame_graph(self):
        self.open("#flame?finding=F1")
        self.browser.run("document.querySelector('svg.flame [tabindex=\"0\"]').focus()")
        self.browser.keys(Keys.ARROW_DOWN, Keys.ENTER, Keys.ARROW_DOWN)
        crumb, label = self.browser.text(".crumb[aria-current]"), self.browser.active()["label"].split(":")[0]
        self.newer(2)
        self.assertEqual(self.browser.text(".crumb[aria-current]"), crumb)
        self.assertEqual(self.browser.active()["label"].split(":")[0], label)
        self.browser.keys(Keys.ARROW_UP)
        self.assertTrue(self.browser.active()["label"].startswith(crumb), self.browser.active())

    def test_the_window_the_focus_of_a_list_and_what_is_unfolded(self):
        self.open("#timeline?window=1-4&by=part")
        self.browser.run("document.querySelectorAll('main select')[0].focus()")
        self.newer(2)
        self.assertIn("window=1-4", self.browser.fragment())
        self.assertEqual(self.browser.active()["tag"], "select")
        self.open("#findings")
        self.browser.run("document.querySelectorAll('main summary')[1].click()")
        unfolded = self.browser.run("return [...document.querySelectorAll('details')].map((e) => e.open)")
        self.assertTrue(any(unfolded))
        self.newer()
        title = ("return document.querySelector('details[open]').closest('article')"
                 ".querySelector('.where code').textContent")
        before = self.browser.run(title)
        self.newer()
        self.assertEqual(self.browser.run(title), before)

    def test_an_open_dialog(self):
        self.open()
        self.browser.keys("?")
        self.newer()
        self.assertTrue(self.browser.one("dialog").is_displayed())
        self.assertRegex(self.browser.text("dialog"), "following the job")
        self.browser.keys(Keys.ESCAPE)

    def test_what_is_marked_or_dragged_is_not_drawn_over(self):
        self.open()
        self.browser.run("getSelection().selectAllChildren(document.querySelector('.facts'))")
        self.browser.wait(lambda: "newer data is ready" in self.mark())
        steps = self.steps()
        self.browser.run("window.facts = document.querySelector('.facts')")
        self.assertTrue(self.browser.run("return window.facts.isConnected"))
        self.browser.run("getSelection().removeAllRanges()")
        self.browser.wait(lambda: self.steps() > steps)
        self.assertFalse(self.browser.run("return window.facts.isConnected"))


class Marks(FollowingCase):
    def test_a_key_and_a_button_pause_it(self):
        self.open()
        self.browser.keys("p")
        self.assertRegex(self.mark(), r"paused at step .*, \d")
        version = self.version()
        self.server.look(self.server.look()["live"]["version"])
        self.assertEqual(self.version(), version)
        self.browser.click(".following button")
        self.assertRegex(self.mark(), STEP)
        self.newer()
        self.browser.click(".following button")
        self.assertIn("paused", self.mark())
        self.browser.keys("p")
        self.assertRegex(self.mark(), STEP)

    def test_the_end_of_the_job_is_said_and_nothing_is_asked_any_more(self):
        self.open()
        self.end_job()
        self.browser.wait(lambda: "the job has ended" in self.mark())
        self.assertFalse(self.browser.one(".following button").is_displayed())
        self.assertEqual("ended normally", self.browser.run("return exitText(processes[0])"))
        self.browser.settle()
        self.complaints_of_others()
        version = self.version()
        self.assertEqual(self.server.ask("data?after=%d" % version).status, 204)  # in 25 seconds
        self.assertEqual(self.browser.complaints(), [], "it asks on")

    def test_a_server_that_is_gone_is_said(self):
        self.open()
        self.assertEqual(self.server.end(signal.SIGINT), 0)
        self.browser.wait(lambda: "the server is gone: this page shows the job at " in self.mark())
        self.assertTrue(self.browser.text("article.finding"))
        self.browser.complaints()  # the browser notes that nobody answers

    def test_a_page_that_was_saved_is_a_page(self):
        with open(self.path("saved.html"), "w", encoding="utf-8") as f:
            f.write(self.server.ask().text)
        self.browser.open(self.path("saved.html"))
        self.assertEqual(self.browser.all(".following"), [])
        self.browser.keys("?")
        self.assertNotIn("following the job", self.browser.text("dialog"))
        self.browser.keys(Keys.ESCAPE, "p")


class OfTwoRuns(FollowingCase):
    def test_the_newer_is_followed_in_every_view(self):
        self.server.end()
        self.server = self.serve(self.leak, self.folder, "--serve")
        for view in ("comparison", "changes", "difference"):
            self.open("#" + view)
            before = self.browser.text("main")
            self.newer()
            self.browser.wait(lambda: self.browser.text("main") != before, view)
        self.open("#changes")
        self.browser.click(".rows .row", 2)
        opened = self.browser.text("#pair-title")
        self.newer(2)
        self.assertEqual(self.browser.text("#pair-title"), opened)


class NothingIsOld(BrowserCase, ServeCase):
    SHOWN = VIEWS + ("flame?search=load", "flame?stacks=both&inverted=1", "sites?search=load", "timeline?by=part",
                     "timeline?by=finding&axis=seconds", "timeline?by=process", "comparison", "changes?show=all",
                     "difference?stacks=both", "difference?search=load")

    def shown(self):
        """What each view shows, in words and lines."""
        seen = {}
        for address in self.SHOWN:
            self.browser.run("location.hash = arguments[0]", address)
            self.browser.arrive(address.split("?")[0])
            seen[address] = self.browser.run("return [main.innerText, [...main.querySelectorAll('path, rect')]"
                                             ".map((e) => [e.getAttribute('d'), e.getAttribute('width')].join())]")
        return seen

    def open(self, *folders):
        self.server = self.serve(*folders, "--serve")
        self.browser.driver.get(self.server.url)
        self.browser.wait(lambda: self.browser.all("nav a"))

    def test_after_other_data_every_view_is_as_if_it_was_loaded_with_it(self):
        longer = self.profile("longer", "leak", "--steps", "90", script="other.py")
        self.open(self.leak, longer)
        wanted, data = self.shown(), self.browser.run("return document.getElementById('data').textContent")
        self.open(self.fixed, self.leak)
        before = self.shown()
        self.browser.run("takeNews(JSON.parse(arguments[0]), null)", data)
        now = self.shown()
        for address in self.SHOWN:
            self.assertEqual(now[address], wanted[address], address)
            self.assertNotEqual(before[address], wanted[address], address)
        self.browser.driver.get("about:blank")
        self.browser.complaints()  # the page asked for itself


DEVICE_JOB = """
a, b = segment(20 * MIB), segment(4 * MIB)
kept = [tensor(a, 8 * MIB), tensor(b, 2 * MIB)]
caching.caching_oom(0, 32 * MIB)
c = segment(40 * MIB)
kept.append(tensor(c, 30 * MIB))
"""


class OfADevice(BrowserCase, CachingCase):
    def test_the_layout_and_the_segment_are_found_again(self):
        profile = self.run_seep(self.argv(DEVICE_JOB), env=self.env())
        server = Server(self, profile.folder, "--serve")
        self.browser.driver.get(server.url + "#device?layout=0&segment=1")
        self.browser.wait(lambda: self.browser.all("svg.map"))
        story, trail = self.browser.text(".story"), self.browser.text(".crumbs")
        self.assertEqual(self.browser.run("return layouts().length"), 2)
        self.browser.run("""
            // The next data has the layouts the other way round.
            const turned = JSON.parse(document.getElementById("data").textContent);
            turned.layouts.reverse();
            takeNews(turned, null);""")
        self.assertIn("layout=1", self.browser.fragment())
        self.assertEqual((self.browser.text(".story"), self.browser.text(".crumbs")), (story, trail))
        self.browser.driver.get("about:blank")
        self.browser.complaints()  # the page asked for itself


if __name__ == "__main__":
    unittest.main()
