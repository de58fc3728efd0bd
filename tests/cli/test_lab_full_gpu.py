"""`seep-lab` on a GPU that can be full: minkowski, and what seep says of it."""
import json
import os
import shutil
import unittest

from tests.cli.lab_case import LabCase


class FullGpu(LabCase):
    def made(self):
        folder = self.path("scenes")
        if not os.path.exists(folder):
            self.assertEqual(self.lab("make-data", "minkowski", folder, "--scale", "0.002").status, 0)
        return folder

    def train(self, variant, status, *options):
        done = self.lab("job", "minkowski", "--variant", variant, "--scale", "0.002", "--measured",
                        self.path("measured"), *options)
        self.assertEqual((done.status, done.stdout), (status, b""), repr(done))
        with open(self.path("measured")) as f:
            return json.load(f), done.err

    def test_a_full_gpu_ends_the_job_with_pytorchs_words(self):
        measured, err = self.train("none", 1, "--data", self.made(), "--capacity", "800MB", "--epochs", "3")
        self.assertRegex(err, r"\Aseep-lab: CUDA out of memory\. Tried to allocate [\d.]+ MiB\. GPU 0 has a total "
                              r"capacity of 763 MiB of which [\d.]+ [KM]iB is free\. Of the allocated memory \d+ MiB is "
                              r"allocated by PyTorch, and [\d.]+ MiB is reserved by PyTorch but unallocated: [^\n]+\n\Z")
        self.assertEqual((measured["out_of_memory"], measured["capacity_bytes"]), (1, 800e6))
        self.assertLessEqual(measured["refused_reserved_bytes"], 800e6)
        measured, err = self.train("none", 0, "--data", self.made(), "--capacity", "3G", "--epochs", "3")
        self.assertEqual((measured["out_of_memory"], measured["steps"], err), (0, 63, ""))
        self.assertNotIn("refused_bytes", measured)

    def test_seep_tells_what_was_requested_live_reserved_and_there(self):
        folder = self.fresh()
        done = self.lab("run", "minkowski", "--variant", "none", "--scale", "0.002", "--data", self.made(),
                        "--capacity", "800MB", "-o", folder, "--json")
        self.assertEqual(done.status, 0, repr(done))
        self.assertIn("CUDA out of memory", done.err)
        measured = done.json()["measured"]
        with open(os.path.join(folder, "report.json")) as f:
            report = self.valid(json.load(f))
        self.assertEqual(report["spaces"]["device:0"]["capacity_bytes"], 800e6)
        shortages = [f["shortage"] for f in report["findings"] if f["pattern"] == "out-of-memory"]
        self.assertEqual(len(shortages), 1)
        self.assertEqual(shortages[0]["asked_bytes"], measured["refused_bytes"])
        self.assertEqual(shortages[0]["allocated_bytes"], measured["refused_live_bytes"])
        self.assertEqual(shortages[0]["unallocated_bytes"],
                         measured["refused_reserved_bytes"] - measured["refused_live_bytes"])

    def test_the_scenes_are_those_of_the_folder(self):
        whole, _ = self.train("roomy-expandable", 0, "--data", self.made(), "--epochs", "1")
        few = self.path("few")
        os.mkdir(few)
        for i in range(30):
            name = "scene%04d_00_vh_clean_2.ply" % i
            shutil.copy(os.path.join(self.made(), name), few)  # no labels: the document reads points
        part, _ = self.train("roomy-expandable", 0, "--data", few, "--epochs", "1")
        self.assertEqual((whole["scenes"], part["scenes"]), (241, 24))
        self.assertNotEqual(whole["voxels_per_scene"], part["voxels_per_scene"])
        os.mkdir(self.path("none"))
        self.assertIn("too few", self.cannot("job", "minkowski", "--variant", "none", "--data", self.path("none")))

    def test_each_rank_trains_on_its_part(self):
        one, _ = self.train("roomy-expandable", 0, "--data", self.made(), "--epochs", "1")
        two, _ = self.train("ddp", 0, "--data", self.made(), "--epochs", "1")
        self.assertEqual((one["scenes"], two["scenes"]), (241, 121))
        self.assertEqual((one["steps"], two["steps"]), (21, 11))
        ended, err = self.train("ddp", 1, "--data", self.made(), "--epochs", "1", "--capacity", "400MB")
        self.assertEqual(ended["out_of_memory"], 1)
        self.assertIn("CUDA out of memory", err)

    def test_what_a_cure_of_a_full_gpu_is_worth_is_counted(self):
        done = self.lab("bench", "minkowski", "--capacity", "975MB", "--json")
        self.assertEqual((done.status, done.err), (0, ""), repr(done))
        rows = {r["cure"]: r for r in done.json()["minkowski"]}
        self.assertEqual(list(rows), ["none", "empty-every-10", "empty-every-step", "expandable", "padded"])
        self.assertGreaterEqual(rows["none"]["out_of_memory"], 18)
        self.assertLess(rows["expandable"]["out_of_memory"], 5)
        self.assertEqual({r["gpu_mb"] for r in rows.values()}, {975})


if __name__ == "__main__":
    unittest.main()
