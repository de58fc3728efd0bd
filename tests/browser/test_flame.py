"""The flame graph: it accounts for everything in the timeline, and each box says what it is."""
import unittest

from tests.browser.job_page import PageCase
from tests.browser.made_up import with_a_device, with_small_sites
from tests.browser.page import ActionChains, Keys

# Three thousand lines that each keep little, beside one that keeps much.
SPREAD = """
import time
import seep

kept = []
lines = {}
exec("\\n".join("def line_%d(): return bytearray(1000)" % i for i in range(3000)), lines)


def run(step):
    for name in ("line_%d" % i for i in range(3000)):
        kept.append(lines[name]())


def large():
    return bytearray(40 << 20)


kept.append(large())
for step in range(30):
    run(step) if step % 10 == 0 else None
    seep.step()
    time.sleep(0.02)  # the timeline looks every some milliseconds
"""

# One function from two callers, one of which goes through it twice.
CALLED = '''
import time
import seep

kept = []


def inner(n):
    kept.append(bytearray(n))


def shared(n, again=False):
    if again:
        shared(n)
    else:
        inner(n)


def left():
    shared(40000)


def right():
    shared(20000, True)


for step in range(40):
    left(), right()
    seep.step()
    time.sleep(0.02)
'''

LABELS = "return [...document.querySelectorAll(arguments[0] + ' svg.flame g')].map((e) => e.getAttribute('aria-label'))"

# Functions of these files, each of which keeps something.
ORIGINS = """
import time
import seep

kept, made = [], []
for file in %r:
    scope = {}
    exec(compile("def made():\\n    return bytearray(3000000)", file, "exec"), scope)
    made.append(scope["made"])
for step in range(40):
    if step < len(made):
        kept.append(made[step]())
    seep.step()
    time.sleep(0.01)
"""


class FlameCase(PageCase):
    def names(self, css="main"):
        return [label.split(" · ")[0].split(": ")[0] for label in self.browser.run(LABELS, css)]


def with_a_lower_timeline(data):
    """As where the timeline looked when much had gone, or had not come."""
    for column in data["timeline"]["spaces"].values():
        column["live_bytes"] = [n // 2 for n in column["live_bytes"]]
    data["processes"] = data["processes"][:1]


def with_a_higher_timeline(data):
    for column in data["timeline"]["spaces"].values():
        column["live_bytes"] = [4 * n for n in column["live_bytes"]]


def with_a_lower_timeline_of_two(data):
    with_a_lower_timeline(data)
    data["processes"] *= 2


class Whole(FlameCase):
    def test_it_says_why_it_has_more_than_the_timeline(self):
        self.open("#flame")
        step = self.browser.run("return stepsOfRows.filter((one) => one <= lastStep).pop()")
        for make, why in ((with_a_lower_timeline, r"It was measured before that step ended; this graph counts its end\."),
                          (with_a_lower_timeline_of_two, r"counts each process at its own step \d+; they did not all run at once\.")):
            self.browser.open(self.made_up(make), "#flame?measure=live&window=0-%d" % step)
            self.assertRegex(self.browser.text("main"), r"The timeline shows .+ at step \d+\. .*" + why)
        self.browser.open(self.made_up(with_a_higher_timeline), "#flame?measure=live&window=0-%d" % step)
        self.assertNotIn("The timeline shows", self.browser.text("main"))

    def test_it_comes_to_what_the_timeline_has(self):
        """At the end, and as a step ended that the timeline looked at: on a busy machine it misses some."""
        for name, source in (("spread", SPREAD), ("called", CALLED)):
            self.open("#flame?stacks=both", name=name, source=source)
            looked_at = self.browser.run("return stepsOfRows.filter((step) => step <= 15).pop()")
            for window in ("", "&window=0-%d" % looked_at):
                self.open("#flame?stacks=both" + window, name=name, source=source)
                graph, line, step = self.browser.run("""
                    const {to} = windowOf(state.get("window")), row = stepRows[d3.bisectRight(stepsOfRows, to) - 1];
                    return [treeMade.tree.value, ofSpaces(HOST, timeline.spaces, [row])[0], to];""")
                self.assertAlmostEqual(graph / line, 1, delta=0.02, msg=(name, window, step))

    def test_lines_that_are_too_small_to_be_seen_are_a_box_below_their_caller(self):
        self.open("#flame", name="spread", source=SPREAD)
        self.assertLess(self.browser.run("return nSites"), 2500, "they are not in the page one by one")
        small = self.browser.run("""
            const below = (node, name) => childrenOf(node, 0).find((child) => frame.name(child.frame) === name);
            const module = below(treeMade.tree, "<module>");
            const run = childrenOf(treeMade.tree, 0).map((child) => below(child, "run")).find(Boolean);
            return childrenOf(run, 0).filter((child) => child.frame === smallFrame).map((child) => child.value);""")
        self.assertEqual(len(small), 1)
        self.assertGreater(small[0], 0.9 * 9e6)
        self.assertIn("small sites", self.names())
        self.assertRegex(self.browser.text(), r"\d sites too small to see are drawn as “small sites” below their callers")

    def test_small_sites_are_weighed_in_every_measure(self):
        self.browser.open(self.made_up(with_small_sites), "#flame")
        for measure, bytes in (("live", 7 << 20), ("kept", 6 << 20), ("growth", 7 << 20), ("peak", 8 << 20), ("allocated", 9 << 20)):
            self.browser.choose("measure", measure)
            self.assertEqual(self.browser.run(
                "const find = (node) => node.frame === smallFrame ? node.value : d3.sum(childrenOf(node, 0), find); "
                "return find(treeMade.tree)"), bytes, measure)
        self.browser.choose("measure", "live")
        self.browser.choose("of", "F1")
        self.assertNotIn("small sites", self.names(), "whose they are is not known")

    def test_whose_code_a_box_is_was_decided_by_the_analysis(self):
        """Also where Python lies in no folder of the system, and where the job does."""
        files = {"/root/.pyenv/versions/3.11/lib/python3.11/json/decoder.py": "library", "/usr/src/app/train.py": "own",
                 "/opt/conda/lib/python3.10/site-packages/torch/nn.py": "library", "<frozen os>": "library", "<string>": "own"}
        self.open("#flame", name="origins", source=ORIGINS % list(files))
        said = dict(self.browser.run("return [...frames.kind.keys()].map((f) => [frame.file(f), frameKind(f)])"))
        self.assertEqual({file: said[file] for file in files}, files)


class Imports(FlameCase):
    def test_imports_are_one_box_until_they_are_unfolded(self):
        self.open("#flame?measure=allocated")
        folded = self.names()
        self.assertIn("import", folded)
        self.assertNotIn("_find_and_load", folded)
        self.assertFalse([(a, b) for a, b in self.browser.run("""
            const pairs = [], walk = (node) => childrenOf(node, 0).forEach((child) => {
                pairs.push([node.frame === importFrame, child.frame === importFrame]);
                walk(child);
            });
            walk(treeMade.tree);
            return pairs;""") if a and b], "a run is one")
        self.browser.choose("imports", "1")
        self.assertIn("imports=1", self.browser.fragment())
        unfolded = self.names()
        self.assertIn("_find_and_load", unfolded)
        self.assertNotIn("import", unfolded)


class Sandwich(FlameCase):
    def open_function(self, name):
        self.open("#flame?measure=kept", name="called", source=CALLED)
        key = self.browser.run("return functionKey(d3.range(frames.name.length).find((f) => frame.name(f) === arguments[0]))", name)
        self.browser.run("state.set({function: arguments[0]}, true)", key)
        self.browser.settle()

    def test_a_function_has_its_callers_above_and_its_callees_below(self):
        self.open_function("shared")
        self.assertEqual(self.names()[0], "shared")
        tops = self.browser.run("return [...document.querySelectorAll('svg.flame')].map((svg) => [...svg.querySelectorAll('g')]"
                                ".map((g) => [g.getAttribute('aria-label').split(' · ')[0], g.getBoundingClientRect().top]))")
        callers, callees = [dict(one) for one in tops]
        self.assertGreater(callers["shared"], callers["left"], "callers stand above")
        self.assertGreater(callers["left"], callers["<module>"])
        self.assertLess(callees["shared"], callees["inner"])
        self.assertLess(max(callers.values()), min(callees.values()))

    def test_what_calls_itself_counts_once(self):
        self.open_function("shared")
        by_hand, callers, callees = self.browser.run("""
            let sum = 0;
            for (let i = 0; i < nSites; i++)
                if (framesOf(sites.stack[i]).some((f) => frame.name(f) === "shared"))
                    sum += sites.retained_bytes[i];
            const {callers, callees} = treeMade.sandwich(state.get("function"));
            return [sum, callers.value, callees.value];""")
        self.assertGreater(by_hand, 30 * 60000)
        self.assertEqual([callers, callees], [by_hand, by_hand])

    def test_it_is_reached_by_key_by_link_and_from_the_table_and_left_again(self):
        self.open("#flame?measure=kept", name="called", source=CALLED)
        self.browser.run("[...document.querySelectorAll('svg.flame g')].find((e) => /^left/.test(e.getAttribute('aria-label'))).focus()")
        self.browser.keys("c")
        self.assertRegex(self.browser.text(".crumbs"), "left and its callers and callees")
        self.browser.run("document.querySelectorAll('svg.flame')[1].querySelector('[tabindex=\"0\"]').focus()")
        self.browser.keys(Keys.ARROW_DOWN, Keys.ENTER)
        self.assertRegex(self.browser.text(".crumbs"), "shared and its callers and callees")
        self.browser.click(".crumb")
        self.assertEqual(len([e for e in self.browser.all("svg.flame") if e.is_displayed()]), 1)
        self.browser.click(".functions summary")
        table = self.browser.text(".functions table").replace("\t", " ")
        self.assertRegex(table, r"shared called_page\.py [12]\.\d MiB \d+ % 0 B")
        self.assertRegex(table, r"inner called_page\.py [12]\.\d MiB \d+ % [12]\.\d MiB")
        self.browser.run("[...document.querySelectorAll('.functions a')].find((a) => a.textContent === 'inner').click()")
        self.browser.wait(lambda: "inner and its callers" in self.browser.text(".crumbs"))
        self.browser.driver.back()
        self.browser.wait(lambda: len([e for e in self.browser.all("svg.flame") if e.is_displayed()]) == 1)


class ReadOut(FlameCase):
    def test_a_box_says_what_it_is_beside_the_pointer(self):
        self.open("#flame?finding=F1&measure=kept")
        self.assertFalse(self.browser.one(".readout").is_displayed())
        box = next(e for e in self.browser.all("svg.flame g") if e.get_attribute("aria-label").startswith("load"))
        ActionChains(self.browser.driver).move_to_element(box).perform()
        self.browser.settle()
        told = self.browser.text(".readout")
        self.assertRegex(told, r"^load\njob_page\.py:\d+\nreturn bytearray\(64 \* 1024\)\n[45]\.\d MiB, 100 %\nabout [78]\d blocks of 64\.0 KiB\n8\d allocations in the run$")
        where = self.browser.run("const [a, b] = ['.readout', 'svg.flame'].map((css) => document.querySelector(css).getBoundingClientRect()); "
                                 "return [a.left, a.top, a.right, a.bottom, innerWidth, innerHeight]")
        self.assertTrue(0 <= where[0] and 0 <= where[1] and where[2] <= where[4] and where[3] <= where[5], where)
        ActionChains(self.browser.driver).move_to_element(self.browser.one("h1, .crumbs")).perform()
        self.browser.settle()
        self.assertFalse(self.browser.one(".readout").is_displayed())

    def test_spaces_have_the_same_fill_wherever_they_are(self):
        fills = """
            const svgs = [...document.querySelectorAll("main svg")];
            const told = (fill) => fill.startsWith("url") ? document.querySelector(fill.slice(4, -1)).innerHTML : fill;
            return [...new Set(svgs.flatMap((svg) => [...svg.querySelectorAll(arguments[0])]).map((e) => told(e.getAttribute("fill"))))];"""
        known = {}
        for memory, space in (("host", "host"), ("tensor:0", "tensor:0"), ("device:0", "device:0")):
            self.browser.open(self.made_up(with_a_device), "#timeline?memory=" + memory)
            areas = self.browser.run(fills, ".area")
            for view in ("flame", "findings", "processes"):
                self.browser.open(self.made_up(with_a_device), "#%s?memory=%s" % (view, memory))
                shown = self.browser.run(fills, ".area, .band")
                self.assertLessEqual(set(shown), set(areas) | set(known.values()), (memory, view))
            known[space] = areas[0]
        self.assertEqual(len(set(known.values())), 3, known)
        self.open("#flame")
        self.assertTrue(self.browser.all("svg.flame .band"))
        self.assertRegex(self.browser.text(), r"Stripe at the foot of a box:\s+host")


if __name__ == "__main__":
    unittest.main()
