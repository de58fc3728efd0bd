"""`seep view`: one self-contained file."""
import importlib.util
import json
import os
import re
import subprocess
import unittest
import urllib.request

from tests.browser.made_up_look import document
from tests.cli.ci_jobs import LEAK_BYTES, ROOT, CiCase, validate
from tests.e2e.support import SEEP

MOST_BYTES = 2 << 20


def data_of(page):
    """What the page holds of the profile."""
    found = re.search(r'<script type="application/json" id="data">\n(.*?)</script>', page, re.S)
    return json.loads(found.group(1))


class View(CiCase):
    def page(self, *args):
        out = self.path("page.html")
        done = self.seep("view", "-o", out, *args)
        self.assertEqual((done.status, done.err, done.stdout), (0, "", b""), repr(done))
        with open(out, encoding="utf-8") as f:
            return f.read()

    def test_the_page_lies_in_the_folder_unless_told_otherwise(self):
        folder = self.fresh_copy(self.leak)
        done = self.seep("view", folder + "/")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(done.stdout.decode(), folder + "/view.html\n")
        with open(folder + "/view.html", encoding="utf-8") as f:
            self.assertIn("leak", data_of(f.read())["job"]["command"])
        self.assertEqual(self.seep("report", folder).status, 0, "and does not stand in the way of a report")

    def test_findings_and_their_sites_are_what_the_report_says(self):
        data = data_of(self.page(self.leak))
        report = self.report(self.leak, "--all", "--series")
        self.assertEqual(data["findings"], report["findings"])
        self.assertEqual(data["timeline"], report["timeline"])
        row = [data["texts"][i] for i in data["sites"]["id"]].index(report["findings"][0]["sites"][0])
        site = next(s for s in report["sites"] if s["id"] == report["findings"][0]["sites"][0])
        self.assertEqual(data["sites"]["retained_bytes"][row], site["retained_bytes"])
        self.assertAlmostEqual(data["sites"]["growth"][row], LEAK_BYTES, delta=0.02 * LEAK_BYTES)
        raw = data["sites"]["series"][row]
        self.assertEqual(sum(raw[::2]), site["series"]["step"][-1])
        self.assertEqual(sum(raw[1::2]), site["series"]["live_bytes"][-1])

    def test_the_line_stands_among_its_neighbours(self):
        excerpt = data_of(self.page(self.leak))["excerpts"][0]
        self.assertEqual(excerpt["lines"][excerpt["line"] - excerpt["first"]], "    block = bytearray(64 * 1024)")
        self.assertEqual(len(excerpt["lines"]), 7)

    def test_a_source_that_was_changed_is_not_shown(self):
        path = os.path.join(self._root, "other.py")
        folder = self.profile("changed", "leak", script="other.py")
        os.utime(path, (2e9 * 2, 2e9 * 2))
        self.assertEqual(data_of(self.page(folder))["excerpts"], [])

    def test_a_look_is_a_page_beside_its_file(self):
        with open(self.path("look.json"), "w", encoding="utf-8") as f:
            json.dump({**document(command="python3 </script>"), "of another version": 7}, f)
        done = self.seep("view", self.path("look.json"))
        self.assertEqual((done.status, done.err, done.stdout.decode()), (0, "", self.path("look.html") + "\n"))
        with open(self.path("look.html"), encoding="utf-8") as f:
            page = f.read()
        look = data_of(page)["look"]
        self.assertEqual((look["command"], len(look["holders"]), len(look["looks"])), ("python3 </script>", 4, 3))
        self.assertNotIn("of another version", look)
        self.assertNotIn("findingsView", page, "its scripts are those of a look")

    def digest(self, name="job.digest"):
        path = self.path(name)
        self.assertEqual(self.seep("digest", self.leak, "-o", path).status, 0)
        return path

    def test_a_digest_is_a_page_beside_its_file(self):
        done = self.seep("view", self.digest())
        self.assertEqual((done.status, done.err, done.stdout.decode()), (0, "", self.path("job.html") + "\n"))
        with open(self.path("job.html"), encoding="utf-8") as f:
            data = data_of(f.read())
        report = json.loads(self.seep("report", self.digest(), "--format", "json", "--series").stdout)
        self.assertEqual(data["findings"], report["findings"])
        self.assertEqual({**data["digest"], "cells": None}, {**report["digest"], "cells": None})
        self.assertEqual(data["processes"], [], "no list of processes")
        self.assertNotIn("rss_bytes", data["timeline"], "nothing of RSS over time, rather than zeros")
        self.seep("view", self.digest("of any name"))
        self.assertTrue(os.path.exists(self.path("of any name.html")))

    def test_digests_and_their_reports_are_as_their_schemas_say(self):
        with open(self.digest(), encoding="utf-8") as f:
            self.assertEqual(validate(ROOT / "docs/digest.schema.json", json.load(f)), [])
        merged = self.path("merged.digest")
        fixed = self.path("fixed.digest")
        self.assertEqual(self.seep("digest", self.fixed, "-o", fixed).status, 0)
        self.assertEqual(self.seep("merge", self.digest(), fixed, "-o", merged).status, 0)
        with open(merged, encoding="utf-8") as f:
            self.assertEqual(validate(ROOT / "docs/digest.schema.json", json.load(f)), [])
        report = json.loads(self.seep("report", merged, "--format", "json", "--series", "--all").stdout)
        self.assertEqual(validate(ROOT / "docs/report.schema.json", report), [])
        self.assertEqual(report["findings"][0]["spread"]["of"], 2)

    def test_a_digest_is_served_as_it_is(self):
        server = subprocess.Popen([str(SEEP), "view", self.digest(), "--serve"], stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip()
            with urllib.request.urlopen(url) as answer:
                data = data_of(answer.read().decode())
            self.assertEqual((data["live"]["state"], data["digest"]["folders"]), ("ended", 1))
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()
        self.assertIn("a digest has no metrics", self.cannot("view", self.digest(), "--serve", "--metrics"))
        self.assertIn("seep merge", self.cannot("view", self.digest(), self.digest(), self.digest()))

    def test_a_damaged_digest_is_an_error(self):
        with open(self.digest(), "r+", encoding="utf-8") as f:
            f.truncate(2000)
        self.assertIn("is cut short", self.cannot("view", self.path("job.digest")))

    def test_a_look_is_served_as_well(self):
        with open(self.path("look.json"), "w", encoding="utf-8") as f:
            json.dump(document(), f)
        server = subprocess.Popen([str(SEEP), "view", self.path("look.json"), "--serve"], stdout=subprocess.PIPE, text=True)
        try:
            with urllib.request.urlopen(server.stdout.readline().strip()) as answer:
                page = answer.read().decode()
        finally:
            server.terminate()
            server.communicate()
        self.assertEqual(server.returncode, 0)
        self.assertEqual(len(data_of(page)["look"]["holders"]), 4)
        self.assertIn("lookView", page)

    def test_what_is_no_look_is_refused_in_words(self):
        whole = json.dumps(document())
        for text, said in (("", "line"), (whole[:500], "line"), ("[]", "not a document of `seep look --format json`"),
                           (json.dumps({**document(), "version": 9}), "a newer seep"), (json.dumps(document(looks=[])), "there is no look"),
                           (json.dumps(document(pid="x")), "pid is not a whole number"), ("[" * 100000, "line")):
            with self.subTest(text[:20]):
                with open(self.path("bad.json"), "w", encoding="utf-8") as f:
                    f.write(text)
                done = self.seep("view", self.path("bad.json"))
                self.assertEqual(done.status, 2, repr(done))
                self.assertIn(self.path("bad.json"), done.err)
                self.assertIn(said, done.err)
                self.assertFalse(os.path.exists(self.path("bad.html")))
        done = self.seep("view", self.path("bad.json"), self.leak)
        self.assertEqual(done.status, 2)
        self.assertIn("a look is shown alone", done.err)

    def test_it_is_small_and_holds_every_site_that_counts(self):
        page = self.page(self.leak)
        self.assertLess(len(page.encode()), MOST_BYTES)
        data, all_of_it = data_of(page), data_of(self.page(self.leak, "--all"))
        left_out = sum(data["small"]["sites"])
        self.assertGreater(left_out, 0)
        self.assertEqual(len(data["sites"]["id"]) + left_out, len(all_of_it["sites"]["id"]))
        self.assertFalse(all_of_it["small"].get("sites"))
        for space, totals in data["spaces"].items():
            held = sum(a for a, s in zip(data["sites"]["allocated_bytes"], data["sites"]["space"])
                       if data["texts"][s] == space)
            self.assertGreater(held, 0.9 * totals["allocated_bytes"], space)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch here")
    def test_the_page_of_a_training_is_small(self):
        job = str(ROOT / "tests/zoo/annotation_cache.py")
        folder = self.profile("training", "leak", "--epochs", "1", "--images", "64", script=job)
        page = self.page(folder)
        self.assertGreater(len(data_of(page)["sites"]["id"]), 300, "all that importing PyTorch makes, too")
        self.assertLess(len(page.encode()), MOST_BYTES)

    def test_it_names_nothing_outside_itself(self):
        page = self.page(self.leak)
        self.assertRegex(page, r"Content-Security-Policy\" content=\"default-src 'none'; ")
        self.assertNotRegex(page, r"<(script|img|iframe)[^>]* src=|<link[^>]* href=\"(?!data:)|@import|url\((?!#)")
        asking = []
        for path in sorted((ROOT / "viewer/page").rglob("*")):
            if path.suffix in (".js", ".html"):
                self.assertNotRegex(path.read_text(),
                                    r"innerHTML|outerHTML|insertAdjacent|document\.write|\.html\(|eval\(",
                                    path.name + ": names become text nodes")
                if re.search(r"fetch\(|XMLHttp|WebSocket|EventSource|sendBeacon|import\(", path.read_text()):
                    asking.append(path.name)
        self.assertEqual(asking, ["live.js"], "nothing is loaded, but by a page that is served")

    def test_what_cannot_be_shown_or_written_is_one_line_and_2(self):
        for what, folder in self.spoiled()[:5]:
            self.cannot("view", folder, about=what)
        for args in ((), ("a", "b"), (self.leak, self.leak, self.leak), ("--walk", self.leak), (self.leak, "-o")):
            self.cannot("view", *args)
        self.cannot("view", self.leak, "-o", self.path("nowhere", "page.html"))
        self.assertIn("/dev/full", self.cannot("view", self.leak, "-o", "/dev/full"))

    def test_two_runs_are_compared_as_verify_and_diff_compare_them(self):
        data = data_of(self.page(self.leak, self.fixed))
        self.assertIn("fixed", data["job"]["command"], "all else is of the newer run")
        told = data["comparison"]
        verdict = self.document("verify", self.leak, self.fixed, status=0)
        for key in ("verdict", "why", "notes", "savings", "spaces"):
            self.assertEqual(told[key], verdict[key], key)
        self.assertEqual([(f["state"], f["before"]) for f in told["findings"]],
                         [(f["state"], f["before"]) for f in verdict["findings"]])
        self.assertIn("leak", told["job"]["command"])
        diff = self.document("diff", self.leak, self.fixed, status=0)["sites"][0]
        pairs = told["pairs"]
        changes = [(after or 0) - (before or 0) for before, after in zip(pairs["kept_before"], pairs["kept_after"])]
        self.assertEqual(min(changes), diff["retained_bytes_change"])
        row = changes.index(min(changes))
        self.assertEqual(data["texts"][data["frames"]["name"][pairs["look_at"][row]]], diff["frame"]["function"])
        self.assertAlmostEqual(pairs["growth_before"][row], LEAK_BYTES, delta=0.02 * LEAK_BYTES)

    def test_a_run_beside_itself_has_no_change(self):
        told = data_of(self.page(self.leak, self.leak))["comparison"]
        self.assertEqual({f["state"] for f in told["findings"]}, {"remains"})
        for measure in ("kept", "peak", "growth"):
            self.assertEqual(told["pairs"][measure + "_before"], told["pairs"][measure + "_after"], measure)

    def test_runs_that_cannot_be_judged_are_shown_and_why_is_said(self):
        told = data_of(self.page(self.leak, self.profile("other job", "fixed", script="other.py")))["comparison"]
        self.assertNotIn("verdict", told)
        self.assertIn("not the same job", told["why_not"])
        self.assertEqual([f["state"] for f in told["findings"]], ["vanished"])
        self.assertGreater(len(told["pairs"]["space"]), 0)

    def test_a_comparison_needs_both_folders_to_be_readable(self):
        for what, folder in self.spoiled()[:5]:
            self.assertIn(os.path.basename(folder), self.cannot("view", folder, self.leak, about=what))
            self.cannot("view", self.leak, folder, about=what)

    def test_a_comparison_lies_in_the_newer_folder_beside_its_own_page(self):
        folder = self.fresh_copy(self.fixed)
        done = self.seep("view", self.leak, folder + "/")
        self.assertEqual((done.status, done.err, done.stdout.decode()), (0, "", folder + "/compare.html\n"))
        self.assertEqual(sorted(name for name in os.listdir(folder) if name.endswith(".html")), ["compare.html"])
        self.assertNotIn("comparison", data_of(self.page(folder)))

    def test_a_cut_profile_is_shown_as_far_as_it_goes(self):
        what, cut = self.spoiled()[5]
        self.assertEqual(what, "cut")
        data = data_of(self.page(cut))
        self.assertFalse(data["job"]["complete"])
        self.assertTrue(data["coverage"]["not_seen"])


if __name__ == "__main__":
    unittest.main()
