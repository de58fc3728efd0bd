"""The page of a look: what holds most as an icicle and as a table, over several looks, by mouse, keyboard and link."""
import json
import re
import subprocess
import sys
import unittest

from tests.browser.made_up_look import MIB, document, document_of_a_core, document_of_a_tree, document_of_gpus, holders
from tests.browser.page import STICKS_OUT, BrowserCase, Keys
from tests.e2e.support import SEEP, SeepCase, needs_to_read_children

HARM = ("</script><script>window.harmed=1</script>", "<img src=x onerror=window.harmed=2>", "\u202eevil" + "a" * 3000)

JOB = '''
import ctypes, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_long(-1), 0, 0, 0)
class Annotations:
    def __init__(self):
        self.by_name = {i: bytearray(20000) for i in range(500)}
notes = Annotations()
print("ready", flush=True)
for _ in sys.stdin:
    notes.by_name.update({len(notes.by_name) + i: bytearray(20000) for i in range(100)})
    print("ready", flush=True)
'''

# What is drawn: of each box its depth, name and width.
BOXES = """return [...document.querySelectorAll(".icicle g.frame")].map((g) => ({depth: +g.getAttribute("aria-level"), kind: g.getAttribute("class"),
    text: g.getAttribute("aria-label"), wide: +g.querySelector("rect").getAttribute("width"),
    x: +g.getAttribute("transform").match(/[\\d.]+/)[0]}));"""
# Bytes of the boxes of a row of the whole tree.
ROW = "return lookAsked().tree.descendants().filter((n) => n.depth === arguments[0]).map((n) => [n.data.name, n.value]);"


class LookPage(BrowserCase, SeepCase):
    def page(self, look, name="made_up"):
        with open(self.path(name + ".json"), "w", encoding="utf-8") as f:
            json.dump(look, f)
        done = subprocess.run([str(SEEP), "view", self.path(name + ".json")], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", self.path(name + ".html") + "\n"))
        return self.path(name + ".html")

    def open(self, look=None, fragment="", name="made_up"):
        self.browser.open(self.page(look or document(), name), "#holders" + fragment)

    def test_of_a_core_file_live_memory_is_the_whole(self):
        self.open(document_of_a_core(), name="core")
        self.assertRegex(self.browser.text(".facts"), r"^[\d.]+ MiB live in [\d\u202f,. ]+ objects")
        self.assertIn("From a core file", self.browser.text(".facts"))
        self.assertEqual(self.browser.text("#job"), "python3 /home/user/train.py core file cores/core.4711, 50.0 MiB, process 4711")
        self.assertIn("by_name (dict): 14.0 MiB, 52 % of live memory", self.box("by_name")[1]["text"].replace("\u00a0", " "))
        self.open(document_of_a_core(pid=0), name="core")
        self.assertTrue(self.browser.text("#job").endswith("50.0 MiB"), "a core file that does not say of which process it is")
        self.assertEqual([name for name, _ in self.browser.run(ROW, 0)], ["live memory"])
        self.assertEqual(sorted(name for name, _ in self.browser.run(ROW, 1)), ["no variable holds", "variables hold"])

    def box(self, text):
        """The number of the box that says this, and what is known of it."""
        found = [(n, box) for n, box in enumerate(self.browser.run(BOXES)) if text in box["text"]]
        self.assertTrue(found, text)
        return found[0]

    def fact(self, name):
        """What the details say of the holder."""
        facts = self.browser.run("return [...document.querySelectorAll('.details dl > *')].map((e) => [e.tagName, e.innerText])")
        self.assertEqual([tag for tag, _ in facts], ["DT", "DD"] * (len(facts) // 2))
        return {name: said.replace("\u00a0", " ") for (_, name), (_, said) in zip(facts[::2], facts[1::2])}.get(name)

    def rows(self):
        return [row.text.split("\n") for row in self.browser.all(".rows .row")]

    def test_the_boxes_add_up_to_the_rss(self):
        self.open()
        self.assertEqual(dict(self.browser.run(ROW, 0)), {"RSS": 40 * MIB})
        self.assertEqual(dict(self.browser.run(ROW, 1)), {"variables hold": 24 * MIB, "no variable holds": 3 * MIB,
                                                          "files and shared memory": 5 * MIB, "not live": 8 * MIB})
        self.assertEqual(dict(self.browser.run(ROW, 2)), {
            "module __main__": 20 * MIB, "main()": 2 * MIB, "others, each small": 2 * MIB, "nothing points to": 3 * MIB,
            "reference cycles": 0, "references never given back": 0})
        whole = self.box("RSS")[1]["wide"]
        for text, mib in (("__main__: 20", 20), ("by_name (dict): 14", 14), ("history", 2), ("Tensor", 2)):
            self.assertAlmostEqual(self.box(text)[1]["wide"] / whole, mib / 40, delta=0.01)
        self.assertEqual([self.box(text)[1]["depth"] for text in ("__main__: 20", "notes (Annotations): 20", "by_name")], [3, 4, 5])

    def test_the_small_others_open_by_type(self):
        look = document()
        for n, one in enumerate(look["looks"]):
            one["others"] = [{"type": "function", "bytes": MIB, "objects": 9}, {"type": None, "bytes": n * MIB // 4, "objects": 0}]
        self.open(look)
        self.browser.click(".icicle g.frame", self.box("others, each small")[0])
        self.assertEqual(dict(self.browser.run("return lookAsked().tree.descendants().find((n) => n.data.name.startsWith('others'))"
                                               ".children.map((n) => [n.data.name, n.value]);")),
                         {"function": MIB, "blocks of C and C++": MIB // 2, "other types": MIB // 2})
        self.assertIn("function: 1.0 MiB", self.box("function")[1]["text"].replace("\u00a0", " "))
        self.assertIn("+512 KiB", self.box("blocks of C and C++")[1]["text"].replace("\u00a0", " "))

    def verdict(self):
        """The first lines of the page."""
        return [line for line in self.browser.text().split("\n") if line][:3]

    def test_the_page_begins_with_who_grows_as_the_text_does(self):
        self.open()
        self.assertEqual(self.verdict(), ["What holds the memory", "Grows in every look, and has no bound",
                                          "+4.0 MiB a minute, now 14.0 MiB: module __main__.notes (Annotations).by_name (dict): length 40 → 80"])
        self.browser.click(".told-holders button")
        self.assertIn("by_name", self.browser.text(".details h2"))
        still = document()
        for one in still["holders"]:
            one.update(growth="no")
        for n, one in enumerate(still["looks"]):
            one.update(free_bytes=n * 4 * MIB)
        self.open(still, name="still")
        self.assertEqual(self.verdict()[2], "Free memory in malloc's heaps +4.0 MiB a minute: small blocks that stay lie between what is freed, "
                         "and nothing else fits")
        self.assertEqual(self.verdict()[1], "No holder grew by 64 KiB or more")
        self.open(document(looks=document()["looks"][:1], holders=[{**one, **{key: one[key][:1] for key in (
            "retained_by_look", "length_by_look")}} for one in holders()]), name="once")
        self.assertEqual(self.verdict()[1:3], ["What holds most", "20.0 MiB: module __main__.notes (Annotations)"])

    def test_a_narrow_table_says_who_grows_those_that_do_first(self):
        self.browser.look(800, 900)
        late = holders()
        late[2].update(growth="grew", growth_bytes_per_minute=9.0 * MIB)
        self.open(document(holders=late), name="late")
        self.assertIn("state", self.browser.text(".head").split("\n"))
        self.assertEqual([row[-2:] for row in self.rows()[:2]], [["+9.0 MiB", "grew"], ["+4.0 MiB", "grows"]])

    def test_what_was_not_seen_may_hold_what_nobody_seems_to_hold(self):
        for field, said in (("incomplete", "what was not read may hold"), ("allocator", "what is not counted may hold")):
            look = document()
            for one in look["looks"]:
                one[field] = "libjemalloc.so.2"
                one["complete"] = field != "incomplete"
            self.open(look, name=field)
            names = dict(self.browser.run(ROW, 2))
            self.assertEqual((names.get(said), names.get("nothing points to")), (3 * MIB, None))

    def test_the_head_says_what_was_looked_at_and_how(self):
        self.open()
        said = self.browser.text()
        for text in ("RSS 40.0 MiB of 1.0 GiB (cgroup)", "27.0 MiB live in", "3 looks in 2 min", "RSS +5.0 MiB a minute",
                     "the limit is reached in 3 hours", "The process was paused for 12 ms"):
            self.assertIn(text, said)
        self.assertIn("python3 /home/user/train.py process 4711", self.browser.text("#job"))
        self.assertEqual(self.browser.run("return document.title"), "What holds the memory · seep · train.py")

    def test_a_click_zooms_and_tells_of_the_holder(self):
        self.open()
        self.browser.click(".icicle g.frame", self.box("by_name")[0])
        self.assertEqual(self.box("by_name")[1]["wide"], self.box("RSS")[1]["wide"])
        said = self.browser.text(".details")
        for text in ("module __main__.notes (Annotations).by_name (dict)", "14.0 MiB (+8.0 MiB since the first look)", "length 80",
                     "grows, no bound", "module __main__.notes (Annotations)"):
            self.assertIn(text, said)
        self.assertEqual(len(self.browser.all(".details circle")), 3)
        self.assertEqual(len(self.browser.all(".details .level, .details path.length-line")), 4, "two lines, and their legend")
        link = self.browser.fragment()
        self.browser.click(".crumb")
        self.assertEqual(self.browser.all(".details"), [])
        self.open(fragment=link[len("#holders"):])
        self.assertIn("by_name", self.browser.text(".details h2"))

    def test_a_holder_has_the_lines_that_made_its_memory(self):
        self.open()
        self.browser.click(".icicle g.frame", self.box("by_name")[0])
        lines = "/home/user/train.py:9 in make_by_name: 13.0 MiB%s\nlibtorch.so+0x1000: 1.0 MiB%s"
        self.assertEqual(self.fact("made at"), lines % ("", ""))
        self.browser.keys("[")
        self.assertEqual(self.fact("made at"), lines % ((" at the last look",) * 2))
        self.browser.click(".icicle g.frame", self.box("notes (Annotations): ")[0])
        self.assertNotIn("by_name", self.browser.text(".details h2"))
        self.assertIsNone(self.fact("made at"), "it is not known of this one")

    def test_keys_move_and_zoom(self):
        self.open()
        self.browser.run("document.querySelector('g.frame[tabindex=\"0\"]').focus()")
        for _ in range(4):
            self.browser.keys(Keys.ARROW_DOWN)
        self.assertIn("by_name", self.browser.active()["label"])
        self.browser.keys(Keys.ENTER)
        self.assertIn("by_name", self.browser.text(".details h2"))
        self.browser.keys(Keys.ESCAPE)
        self.assertIn("notes (Annotations)", self.browser.text(".details h2"))
        self.browser.keys("[")
        self.assertIn("2 of 3", self.browser.text(".look-slider"))

    def test_each_look_has_its_sizes_and_growth_its_colour_and_sign(self):
        self.open()
        box = self.box("by_name")[1]
        self.assertIn("endless", box["kind"].split())
        self.assertIn("+8.0 MiB", box["text"].replace("\u00a0", " "))
        self.assertIn("grew", self.box("notes (Annotations): 20")[1]["kind"].split())
        self.assertIn("shrank", self.box("others")[1]["kind"].split())
        self.browser.run("const range = document.querySelector('.look-slider input'); range.value = 1;"
                         "range.dispatchEvent(new Event('input'))")
        self.browser.settle()
        self.assertIn("by_name (dict): 6.0", self.box("by_name")[1]["text"])
        self.assertNotIn("endless", self.box("by_name")[1]["kind"].split())
        self.assertEqual(dict(self.browser.run(ROW, 0)), {"RSS": 30 * MIB})
        self.assertIn("look=1", self.browser.fragment())
        self.assertEqual(self.rows()[0][1:], ["Annotations", "12.0 MiB", "+4.0 MiB", "grows"])

    def test_a_search_filters_the_table_and_dims_the_rest(self):
        self.open()
        self.assertEqual(len(self.rows()), 4)
        self.browser.keys("/", "dict")
        self.assertEqual([row[0] for row in self.rows()], ["module __main__.notes (Annotations).by_name (dict)"])
        self.assertIn("1 of 4 holders", self.browser.text(".controls"))
        self.assertIn("match", self.box("by_name")[1]["kind"])
        self.assertNotIn("dim", self.box("__main__: 20")[1]["kind"], "it leads there")
        self.assertIn("dim", self.box("history")[1]["kind"])

    def test_the_table_sorts_and_opens(self):
        self.open()
        self.browser.click(".head [data-key=length]")
        self.assertEqual([row[2] for row in self.rows()[:2]], ["80", "50"])
        self.browser.click(".head [data-key=length]")
        self.assertEqual(self.rows()[-1][2], "80")
        self.browser.click(".rows .row", 3)
        self.assertIn("by_name", self.browser.text(".details h2"))

    def test_processes_are_one_or_each_by_itself(self):
        self.open(document_of_a_tree(), name="tree")
        self.assertIn("PSS 78.0 MiB", self.browser.text())
        self.assertIn("Process 4713 was not looked at: it has ended", self.browser.text())
        self.assertEqual(dict(self.browser.run(ROW, 0)), {"RSS": 80 * MIB})
        self.assertIn("by_name (dict): 28.0", self.box("by_name")[1]["text"])
        self.assertIn("40.0 MiB", self.rows()[0])
        self.browser.choose("of", "4712")
        self.assertEqual(dict(self.browser.run(ROW, 0)), {"RSS": 40 * MIB})
        self.assertIn("RSS 40.0 MiB", self.browser.text())

    def test_memory_of_gpus_stands_beside_the_hosts(self):
        self.open(document_of_gpus(), name="gpus")
        for text in ("300 MiB in tensors on cuda:0", "malloc is jemalloc's"):
            self.assertIn(text, self.browser.text())
        self.browser.click(".head [data-key=devices]")
        self.assertIn("by_name", self.rows()[0][0])
        self.assertIn("300 MiB", self.rows()[0])
        self.browser.click(".icicle g.frame", self.box("by_name")[0])
        self.assertEqual(self.fact("on GPUs"), "300 MiB (+200 MiB since the first look) on cuda:0")
        self.assertEqual(self.fact("a minute"), "+4.0 MiB, +100 MiB on cuda:0")
        self.assertEqual(len(self.browser.all(".details path.gpu-line")), 2, "the line, and its legend")
        self.browser.click(".icicle g.frame", self.box("notes (Annotations): ")[0])
        self.assertNotIn("by_name", self.browser.text(".details h2"))
        self.assertEqual(self.browser.all(".details path.gpu-line"), [], "it has nothing on a GPU")
        self.browser.click(".head [data-key=deviceRate]")
        self.assertIn("by_name", self.rows()[0][0])
        self.assertIn("+100 MiB", self.rows()[0])
        self.open(document_of_a_tree(document_of_gpus("__proto__")), "?look=2&sort=devices", "gpus")
        self.assertIn("400 MiB in tensors on __proto__", self.browser.text())
        self.assertIn("400 MiB", self.rows()[0])
        self.open(document_of_a_tree())
        self.assertEqual(self.browser.all(".head [data-key^=device]"), [])

    def test_names_run_nothing(self):
        hostile = document_of_gpus(HARM[1], holders=holders(HARM), command="python3 " + HARM[0], error=HARM[1])
        for fragment in ("", "?search=evil", "?zoom=x.y&look=99&process=%3Cb%3E"):
            self.open(hostile, fragment, "hostile")
            self.assertIsNone(self.browser.run("return window.harmed ?? null"))
            self.assertEqual(self.browser.run(STICKS_OUT), [], fragment)
        self.browser.click(".icicle g.frame", self.box("img src")[0])
        self.assertIsNone(self.browser.run("return window.harmed ?? null"))
        self.assertIn(HARM[1], self.browser.text(".details"))
        self.assertEqual(self.browser.run(STICKS_OUT), [])

    def test_nothing_sticks_out_in_any_size(self):
        once = document(looks=document()["looks"][:1], limit=None, holders=[])
        for look in (document(), document_of_a_tree(document_of_gpus()), document_of_a_core(), once):
            for width in (390, 760, 1280, 1900):
                for scheme in ("light", "dark"):
                    self.browser.look(width, 900, scheme)
                    self.open(look)
                    self.assertEqual(self.browser.run(STICKS_OUT), [], (width, scheme))
                    if look["holders"]:
                        self.browser.click(".icicle g.frame", self.box("by_name")[0])
                        self.assertEqual(self.browser.run(STICKS_OUT), [], (width, scheme, "zoomed"))

    @needs_to_read_children
    def test_a_real_process_is_shown_as_seep_look_tells_of_it(self):
        with open(self.path("job.py"), "w", encoding="utf-8") as f:
            f.write(JOB)
        job = subprocess.Popen([sys.executable, self.path("job.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.communicate)
        job.stdout.readline()
        done = subprocess.run([str(SEEP), "look", "--format", "json", "-o", self.path("real.json"), str(job.pid)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("real.json"), encoding="utf-8") as f:
            told = json.load(f)
        self.open(told, name="real")
        rss = told["looks"][0]["rss_bytes"]
        self.assertAlmostEqual(self.browser.run(ROW, 0)[0][1] / rss, 1, delta=0.02)
        kept = next(one for one in told["holders"] if re.search(r"by_name \(dict\)$", one["path"]["text"]))
        box = self.box("by_name (dict)")[1]
        self.assertAlmostEqual(box["wide"] / self.box("RSS")[1]["wide"], kept["retained_bytes"] / rss, delta=0.02)
        self.assertEqual([one.is_displayed() for one in self.browser.all(".look-slider")], [False], "one look has no slider")


if __name__ == "__main__":
    unittest.main()
