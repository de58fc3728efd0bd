"""The page of `seep view` with a hundred thousand sites: little is drawn, and little is looked at."""
import os
import re
import unittest

from tests.browser.job_page import PageCase, hundred_thousand
from tests.browser.made_up import blown_up
from tests.browser.page import VIEWS, Keys


class Large(PageCase):
    def test_a_hundred_thousand_sites_are_at_hand(self):
        big = self.made_up(hundred_thousand)
        for view in VIEWS:
            self.browser.open(big, "#" + view)
        self.browser.open(big, "#sites")
        self.assertIn("100000stacks", re.sub(r"\s", "", self.browser.text("main > p")))
        self.assertLess(len(self.browser.all(".rows .row")), 100, "only rows in sight exist")
        self.browser.run("document.querySelector('.scroller').focus()")
        self.browser.keys(Keys.END)
        last = self.browser.run("return linesInOrder('', '', '', true).length") - 1
        self.browser.wait(lambda: self.browser.all("#row%d.active" % last))
        self.browser.open(big, "#flame?stacks=both")
        self.assertLess(len(self.browser.all("svg.flame g")), 8000, "only frames that can be seen exist")

    def test_a_flame_graph_looks_at_each_stack_a_few_times_at_most(self):
        self.browser.open(self.made_up(hundred_thousand), "#flame?measure=allocated")
        looked = """
            const all = (node) => 1 + node.children.reduce((n, child) => n + all(child), 0);
            const heads = (node) => (node.heads ? node.heads.stacks.length : 0) + node.children.reduce((n, child) => n + heads(child), 0);
            return [all(treeMade.tree), heads(treeMade.tree), nSites];"""
        for kind in ("python", "both"):
            for inverted in ("", "1"):
                self.browser.run("state.set({stacks: arguments[0], inverted: arguments[1]})", kind, inverted)
                made, grouped, sites = self.browser.run(looked)
                self.assertEqual(sites, 100000)
                self.assertLess(made, 20000, (kind, inverted))
                self.assertLess(grouped, 6 * sites, (kind, inverted))

    def test_ten_times_the_sites_take_not_much_more_than_ten_times_as_long(self):
        timed = """
            const best = (act) => d3.min(d3.range(3), () => { const from = performance.now(); act(); return performance.now() - from; });
            const weight = weights(HOST, "allocated", windowOf(""), "");
            const draw = (tree) => boxesOf(tree, 1200), {all} = channelsOf(weight, HOST);
            return [() => draw(callersTree(all, "both")), () => draw(calleesTree(all, "both")),
                () => linesInOrder("", "", "line", true), () => linesInOrder("load", "", "peak_bytes", true),
                () => bySites(HOST, rowsOf("seconds"), site.part), () => searchFrames("load", weight, "both")].map(best);"""
        least = [[float("inf")] * 6, [float("inf")] * 6]
        for _ in range(6):  # what else the machine does only adds to a time: the least of each is kept
            for kept, n in zip(least, (10000, 100000)):
                self.browser.open(self.grown(n), "#flame")
                kept[:] = map(min, kept, self.browser.run(timed))
            if all(many < 40 * max(few, 5) for few, many in zip(*least)):
                return
        self.fail("\n".join("act %d: %.1f and %.1f ms" % (act, few, many) for act, (few, many) in enumerate(zip(*least))))

    def grown(self, n):
        path = self.path("grown_%d.html" % n)
        if not os.path.exists(path):
            with open(self.page(), encoding="utf-8") as f, open(path, "w", encoding="utf-8") as out:
                out.write(blown_up(f.read(), n))
        return path


if __name__ == "__main__":
    unittest.main()
