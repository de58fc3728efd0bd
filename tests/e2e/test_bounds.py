"""Profiles and the shim's own memory stay bounded; sampling is right on average; long runs keep their slope."""
import os
import unittest

from tests.e2e.support import SYSTEM_PYTHON, WRAPPED, ZOO, SeepCase, has_module, needs, sum_sites

MIB = 1 << 20


class Bounds(SeepCase):
    def sizes(self, folder):
        return [os.stat(os.path.join(folder, f)).st_size for f in os.listdir(folder) if f.endswith(".seep")]

    def test_a_profile_keeps_to_its_bound_and_says_what_it_lost(self):
        for bound in (1, 2, 4):
            profile = self.run_seep([self.subject("transparent"), "many-stacks"], ("--max-profile", "%dMiB" % bound))
            self.assertLessEqual(max(self.sizes(profile.folder)), bound * MIB)
            report = profile.report
            seen = sum_sites(report, "path_of")["allocations"]
            self.assertLess(seen, 1 << 17, "131072 stacks cannot fit")
            host = report["spaces"]["host"]
            self.assertGreaterEqual(host["allocations"], 1 << 17, "what has no stack of its own is still counted")
            self.assertGreaterEqual(host["live_bytes"], 64 << 17)
            text = str(report["coverage"]["not_seen"]) + str(report["job"])
            self.assertIn("max-profile", text, "it must say what did not fit")

    def test_twenty_thousand_steps_keep_their_slope_in_a_small_profile(self):
        script = "import seep\nkept = []\nfor i in range(20000):\n    kept.append(bytearray(1999))\n    seep.step()\n"
        with open(self.path("long.py"), "w") as f:
            f.write(script)
        profile = self.run_seep([SYSTEM_PYTHON, self.path("long.py")])
        report = profile.written
        self.assertEqual(report["job"]["steps"], 20000)
        finding = report["findings"][0]
        self.assertEqual((finding["pattern"], finding["frame"]["line"]), ("unbounded-growth", 4))
        self.assertTrue(1980 <= finding["growth_bytes_per_step"]["value"] <= 2020, finding)
        self.assertLessEqual(max(self.sizes(profile.folder)), 4 * MIB)

    @staticmethod
    def compiles_then_trains(depth):
        """As a compiler does: 2 ** depth stacks, once; then a training that keeps something."""
        return ("import seep\n"
                "def left(n):\n    return [right(n - 1), left(n - 1)] if n else bytes(700)\n"
                "def right(n):\n    return [left(n - 1), right(n - 1)] if n else bytes(700)\n"
                "kept = []\n"
                "def train():\n    kept.append(bytearray(100000))\n"
                "for step in range(60):\n"
                "    if step == %%d:\n        left(%d)\n    if step > %%d:\n        train()\n    seep.step()\n" % depth)

    def test_what_is_done_once_leaves_room_for_the_training(self):
        for step in (0, 1):
            with open(self.path("compiles.py"), "w") as f:
                f.write(self.compiles_then_trains(16) % (step, step))
            profile = self.run_seep([SYSTEM_PYTHON, self.path("compiles.py")], ("--max-profile", "9MiB"))
            self.assertLessEqual(max(self.sizes(profile.folder)), 9 * MIB)
            report = profile.report
            self.assertIn("max-profile", str(report["coverage"]["not_seen"]), "its stacks are too many")
            found = report["findings"][0]
            self.assertEqual((found["pattern"], found["frame"]["function"]), ("unbounded-growth", "train"), found)
            self.assertAlmostEqual(found["growth_bytes_per_step"]["value"], 100000, delta=5000)

    def test_many_threads_and_children_do_not_make_a_profile_large(self):
        profile = self.run_seep([self.subject("counts_threads"), "churn"])
        self.assertLessEqual(max(self.sizes(profile.folder)), 2 * MIB)

    @needs(has_module(SYSTEM_PYTHON, "torch", "numpy"), "no torch here")
    def test_the_shim_takes_less_than_40_MB_of_the_training_job(self):
        argv = [SYSTEM_PYTHON, str(ZOO / "annotation_cache.py"), "fixed", "--images", "240"]
        # By way of a small process: a child's peak begins with that of the process it was forked from.
        ask = ("import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)")
        peaks = [int(self.command([SYSTEM_PYTHON, "-S", "-c", ask, *argv], timeout=240).stdout) for _ in range(2)]
        seen = self.run_seep(argv, timeout=240).written["processes"][0]["rss_peak_bytes"]
        self.assertGreater(seen, min(peaks) * 0.9, "the peak is told at all")
        self.assertLess(seen - min(peaks), 40e6)


class Sampling(SeepCase):
    def test_sampled_totals_are_right_on_average(self):
        exact = self.run_seep([self.subject("counts_heap"), "events", "1000000"]).done.json()["subject_malloc"]
        profile = self.run_seep([self.subject("counts_heap"), "events", "1000000"], ("--sample", "32KiB"))
        seen = sum_sites(profile.report, "subject_malloc")
        # 30,000 samples: a standard error of 0.6 % for bytes, more for counts, where small blocks weigh more.
        self.assertAlmostEqual(seen["allocated_bytes"] / exact["allocated_bytes"], 1, delta=0.04)
        self.assertAlmostEqual(seen["allocations"] / exact["allocations"], 1, delta=0.08)
        self.assertAlmostEqual(seen["frees"] / exact["frees"], 1, delta=0.08)
        # 125 samples live at the end: 9 %.
        self.assertAlmostEqual(seen["live_bytes"] / exact["live_bytes"], 1, delta=0.45)

    def test_large_blocks_are_never_missed(self):
        profile = self.run_seep([self.subject("counts_heap"), "peak"], ("--sample", "64KiB"))
        said, seen = profile.done.json()["subject_malloc"], sum_sites(profile.report, "subject_malloc")
        self.assertEqual(seen, {k: said[k] for k in seen})

    def test_maps_are_never_sampled(self):
        profile = self.run_seep([self.subject("counts_maps"), "shared"], ("--sample", "1GiB"))
        said, seen = profile.done.json()["subject_map_shared"], sum_sites(profile.report, "subject_map_shared", "shm")
        self.assertEqual(seen, {k: said[k] for k in seen})

    def test_sampled_threads_and_reallocs_never_go_below_zero(self):
        for argv in (("counts_threads", "cross"), ("counts_heap", "storm"), ("forks", "fork")):
            profile = self.run_seep([self.subject(argv[0]), argv[1]], ("--sample", "16KiB"))
            for site in profile.report["sites"]:
                for key in ("allocations", "frees", "allocated_bytes", "live_bytes", "peak_bytes"):
                    self.assertLess(site[key], WRAPPED, site)
                self.assertGreaterEqual(site["allocations"], site["frees"], site)


class PythonAllocators(SeepCase):
    SCRIPT = "kept = []\nfor i in range(50000):\n    kept.append((i, i + 1))\nother = {str(i): None for i in range(20000)}\n"

    def lines(self, *options):
        with open(self.path("small.py"), "w") as f:
            f.write(self.SCRIPT)
        report = self.run_seep([SYSTEM_PYTHON, self.path("small.py")], options).report
        found = {}
        for site in report["sites"]:
            for frame in site["stack"]:
                if frame["kind"] == "python":
                    if frame["file"].endswith("small.py") and frame["function"] == "<module>":
                        found[frame["line"]] = found.get(frame["line"], 0) + site["allocations"]
                    break
        return found

    def test_small_objects_have_lines_only_when_asked(self):
        self.assertLess(self.lines().get(3, 0), 1000)
        self.assertGreaterEqual(self.lines("--python-allocators").get(3, 0), 99000)


if __name__ == "__main__":
    unittest.main()
