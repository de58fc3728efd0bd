"""`seep report --series`: levels over time, which a report leaves out unless asked for."""
import os
import unittest

from tests.cli.ci_jobs import LEAK_BYTES, CiCase, validate
from tests.e2e.support import ROOT

THREADS = """
import threading

kept = []


def reader():
    for _ in range(50):
        kept.append(bytearray(100_000))


def train():
    for _ in range(50):
        kept.append(bytearray(200_000))


thread = threading.Thread(target=reader)
thread.start()
train()
thread.join()
"""
MOST_POINTS = 128 + 2  # and the last one and the highest


class Series(CiCase):
    def report(self, *args):
        return self.document("report", self.leak, *args, status=0)

    def test_nothing_is_there_unless_asked_for(self):
        report = self.report()
        self.assertFalse(any("series" in site for site in report["sites"]))
        self.assertNotIn("timeline", report["processes"][0])

    def test_the_level_of_a_leak_rises_by_what_it_leaks(self):
        report = self.report("--series")
        self.assertEqual(validate(ROOT / "docs/report.schema.json", report), [])
        site = max((s for s in report["sites"] if s["id"] in report["findings"][0]["sites"]),
                   key=lambda s: s["live_bytes"])
        steps, level = site["series"]["step"], site["series"]["live_bytes"]
        self.assertEqual(len(steps), len(level))
        self.assertLessEqual(len(steps), MOST_POINTS)
        self.assertEqual(steps, sorted(set(steps)))
        first, last = steps.index(10), steps.index(40)
        self.assertAlmostEqual((level[last] - level[first]) / 30, LEAK_BYTES, delta=0.02 * LEAK_BYTES)
        self.assertEqual(sum(site["lifetimes"]["frees"]), site["frees"])
        self.assertEqual([b & (b - 1) for b in site["sizes"]["bytes_at_least"]], [0] * len(site["sizes"]["bytes_at_least"]))
        self.assertLessEqual(sum(site["sizes"]["allocations"]), site["allocations"])
        size = max(zip(site["sizes"]["allocations"], site["sizes"]["bytes_at_least"]))[1]
        self.assertTrue(size <= LEAK_BYTES * 1.1 < 4 * size, size)
        process = report["processes"][0]["pid"]
        self.assertEqual([(t["pid"], t["tid"]) for t in site["threads"]], [(process, process)])

    def test_a_process_has_its_own_course(self):
        process = self.report("--series")["processes"][0]
        course = process["timeline"]
        self.assertEqual(course["t_s"], sorted(course["t_s"]))
        self.assertLessEqual(max(course["rss_bytes"]), process["rss_peak_bytes"])
        for name, space in course["spaces"].items():
            self.assertEqual(len(space["live_bytes"]), len(course["t_s"]))
            self.assertLessEqual(max(space["live_bytes"]), process["spaces"][name]["peak_bytes"])

    def test_a_process_has_the_parts_of_its_rss_over_time(self):
        process = self.report("--series")["processes"][0]
        parts = dict(process["timeline"]["resident"])
        times = parts.pop("t_s")
        self.assertTrue(times)
        self.assertEqual(times, sorted(times))
        self.assertEqual({len(values) for values in parts.values()}, {len(times)})
        highest = max(map(sum, zip(*parts.values())))
        self.assertLessEqual(highest, process["rss_peak_bytes"] + (1 << 20))
        self.assertGreater(highest, process["rss_peak_bytes"] / 2)

    def test_a_site_names_the_threads_that_asked_for_its_blocks(self):
        with open(os.path.join(self._root, "threads.py"), "w") as f:
            f.write(THREADS)
        folder = self.profile("threads", script="threads.py")
        report = self.document("report", folder, "--series", status=0)
        self.assertEqual(validate(ROOT / "docs/report.schema.json", report), [])
        threads = {line: {t["tid"] for s in report["sites"] for t in s["threads"]
                          if any(f.get("function") == line for f in s["stack"])} for line in ("reader", "train")}
        pid = report["processes"][0]["pid"]
        self.assertEqual(threads["train"], {pid})
        self.assertEqual(len(threads["reader"]), 1)
        self.assertNotIn(pid, threads["reader"])


if __name__ == "__main__":
    unittest.main()
