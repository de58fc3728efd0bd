"""Where blocks lie on a device, as made-up allocators put them there on a stand-in for CUDA, against what was done."""
import json
import os
import pickle
import signal
import threading
import time
import unittest

from tests.e2e.caching_jobs import MIB, CachingCase

class Layouts(CachingCase):
    def layouts(self, job, status=0, **changes):
        """What the job printed, and where its blocks lay: by reason, each site by its line."""
        profile = self.run_seep(self.argv(job), env=self.env(**changes), status=status)
        return json.loads(profile.done.stdout or b"null"), self.read(profile.folder)

    def read(self, folder):
        done = self.seep("report", folder, "--format", "json", "--all", "--layouts")
        self.assertEqual(done.status, 0, repr(done))
        report = done.json()
        if len(done.stdout) < 1 << 20:  # the validator is slow
            self.valid(report)
        lines = {s["id"]: s["stack"][s["look_at"]]["line"] for s in report["sites"]}
        found = {}
        for layout in report["layouts"]:
            for s in layout["segments"]:
                s["line"] = lines[s["site"]]
                s["tensors"] = [[int(s["address"], 16) + at, size, lines[site]] for at, size, site in
                                zip(*(s["tensors"][k] for k in ("offset", "bytes", "site")))]
            found[layout["reason"], layout["device"]] = layout
        self.report_read = report
        return found

    def test_blocks_lie_where_they_lay_at_a_shortage(self):
        job = """
a = segment(20 * MIB)
b = segment(2 * MIB)
lost = tensor(a, 4 * MIB)
kept = [tensor(a + 8 * MIB, 6 * MIB), tensor(b + 512, 1024)]
caching.caching_tensor_gone(0, *lost)
caching.caching_oom(0, 16 * MIB)
tensor(b + 4096, 512)  # after it
print(json.dumps([a, b, kept]))
"""
        (a, b, kept), found = self.layouts(job)
        layout = found["failed", 0]
        line = self.line_of("# TENSOR")
        self.assertEqual({int(s["address"], 16): s["bytes"] for s in layout["segments"]}, {a: 20 * MIB, b: 2 * MIB})
        self.assertEqual(sorted(t for s in layout["segments"] for t in s["tensors"]), sorted([*t, line] for t in kept))
        self.assertEqual(layout["asked_bytes"], 16 * MIB)
        self.assertEqual(layout["free_bytes"], 22 * MIB - 6 * MIB - 1024)
        self.assertEqual(layout["free_pieces"], 4)
        self.assertEqual(layout["largest_free_bytes"], 8 * MIB)
        self.assertEqual(layout["unusable_bytes"], layout["free_bytes"])
        self.assertIsNone(layout["left_out"])
        finding, = (f for f in self.report_read["findings"] if f["pattern"] == "out-of-memory")
        self.assertEqual((finding["shortage"]["unallocated_pieces"], finding["shortage"]["largest_piece_bytes"]), (4, 8 * MIB))
        self.assertIn("Unallocated memory lies in 4 pieces of at most 8.0 MiB", finding["evidence"])

    def test_pytorchs_snapshot_has_them_as_they_lay(self):
        job = """
a = segment(20 * MIB)
b = segment(2 * MIB)
tensors = [tensor(a, 4 * MIB), tensor(a + 8 * MIB, 6 * MIB), tensor(b + 512, 2 * MIB - 512)]
caching.caching_oom(0, 16 * MIB)
print(json.dumps([[a, 20 * MIB], [b, 2 * MIB], tensors]))
"""
        profile = self.run_seep(self.argv(job), env=self.env(PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"))
        *segments, tensors = json.loads(profile.done.stdout)
        exported = self.seep("export", profile.folder, "--format", "snapshot")
        self.assertEqual(exported.status, 0, repr(exported))
        snapshot = pickle.loads(exported.stdout)
        self.assertEqual(sorted([s["address"], s["total_size"]] for s in snapshot["segments"]), sorted(segments))
        self.assertEqual({s["total_size"]: s["segment_type"] for s in snapshot["segments"]},
                         {20 * MIB: "large", 2 * MIB: "small"})
        self.assertEqual(snapshot["allocator_settings"], {"expandable_segments": True})
        blocks = [b for s in snapshot["segments"] for b in s["blocks"]]
        self.assertEqual(sorted([b["address"], b["size"]] for b in blocks if b["state"] == "active_allocated"), sorted(tensors))
        self.assertEqual(sum(b["size"] for b in blocks), 22 * MIB)
        self.assertEqual({b["state"] for b in blocks}, {"active_allocated", "inactive"})
        for s in snapshot["segments"]:
            at = s["address"]
            for block in s["blocks"]:
                self.assertEqual(block["address"], at)
                at += block["size"]
            self.assertEqual(s["allocated_size"], sum(b["size"] for b in s["blocks"] if b["state"] == "active_allocated"))
            self.assertIn("segment", [f["name"] for f in s["frames"]])

    def test_the_last_request_that_failed_counts(self):
        _, found = self.layouts("""
a = segment(20 * MIB)
for i in range(5):
    tensor(a + i * MIB, MIB)
    caching.caching_oom(0, (100 + i) * MIB)
""")
        self.assertEqual((found["failed", 0]["asked_bytes"], found["failed", 0]["tensor_bytes"]), (104 * MIB, 5 * MIB))

    def test_the_peak_has_the_tensor_that_the_device_grew_for(self):
        job = """
for i in range(40):
    a = segment(10 * MIB, 1)
    tensor(a, 9 * MIB, 1)
    if i % 2:
        caching.caching_tensor_gone(1, a, 9 * MIB)
for i in range(30):  # it falls, and rises again, but less
    caching.caching_segment_gone(a)
    a = segment(10 * MIB, 1)
print(json.dumps(a))
"""
        _, found = self.layouts(job)
        self.assertEqual(set(found), {("peak", 1)})
        layout = found["peak", 1]
        self.assertGreaterEqual(layout["taken_bytes"], 400 * MIB * 15 // 16)
        self.assertEqual(len(layout["segments"]), layout["taken_bytes"] // (10 * MIB))
        n = sum(len(s["tensors"]) for s in layout["segments"])
        self.assertEqual(layout["tensor_bytes"], n * 9 * MIB)
        self.assertEqual(n, len(layout["segments"]) // 2 + 1, "the last one has its tensor")

    def test_what_no_tensors_are_reported_of_is_drawn_as_it_is_taken(self):
        _, found = self.layouts("""
for i in range(3):
    segment(30 * MIB)
assert segment(1000 * MIB) is None
""", STANDIN_CAPACITY=str(256 * MIB))
        self.assertEqual(set(found), {("peak", 0), ("refused", 0)})
        for layout in found.values():
            self.assertEqual((layout["taken_bytes"], layout["other_bytes"], layout["free_bytes"]), (90 * MIB, 90 * MIB, 0))
        self.assertEqual(found["refused", 0]["asked_bytes"], 1000 * MIB)

    def test_more_blocks_than_are_noted_are_said(self):
        n = 90000
        _, found = self.layouts("""
a = segment(100 * MIB)
for i in range(%d):
    tensor(a + 1024 * i, 512)
caching.caching_oom(0, 1 << 30)
""" % n)
        layout = found["failed", 0]
        self.assertEqual([len(s["tensors"]) for s in layout["segments"]], [64 * 1362 - 1])
        self.assertEqual(layout["left_out"]["blocks"], n + 1 - 64 * 1362)

    def test_a_small_file_has_room_for_sites_all_the_same(self):
        job = """
a = segment(100 * MIB)
for i in range(60000):
    tensor(a + 1024 * i, 512)
caching.caching_oom(0, 1 << 30)
"""
        profile = self.run_seep(self.argv(job), options=["--max-profile", "2M"], env=self.env())
        layout = self.read(profile.folder)["failed", 0]
        self.assertGreater(layout["left_out"]["blocks"], 5000)
        self.assertEqual(self.report_read["spaces"]["tensor:0"]["live_bytes"], 60000 * 512)

    def test_it_is_there_after_a_kill(self):
        job = """
a = segment(20 * MIB)
tensor(a, 5 * MIB)
caching.caching_oom(0, 16 * MIB)
os.kill(os.getpid(), 9)
"""
        _, found = self.layouts(job, status=128 + signal.SIGKILL)
        self.assertEqual(found["failed", 0]["tensor_bytes"], 5 * MIB)

    def test_a_child_writes_none_of_its_parents(self):
        _, found = self.layouts("""
a = segment(20 * MIB)
tensor(a, 5 * MIB)
if not os.fork():
    tensor(a + 5 * MIB, 5 * MIB)
    caching.caching_oom(0, 16 * MIB)
    os._exit(0)
os.wait()
""")
        self.assertEqual(set(found), {("peak", 0)})
        self.assertEqual(found["peak", 0]["tensor_bytes"], 5 * MIB)

    def test_a_layout_is_whole_while_the_job_writes(self):
        """Layouts are read while new ones are written over the older: none is half of each."""
        job = """
a = segment(64 * MIB)
size = 512
while not os.path.exists(sys.argv[3]):
    for i in range(3000):
        tensor(a + 8192 * i, size)
    caching.caching_oom(0, size << 20)
    for i in range(3000):
        caching.caching_tensor_gone(0, a + 8192 * i, size)
    size = size % 8192 + 512
    if size == 1024:
        open(sys.argv[3] + ".begun", "w").close()
"""
        folder, stop, seen = self.fresh(), self.path("stop"), []

        def watch():
            end = time.monotonic() + 40
            while not os.path.exists(stop + ".begun") and time.monotonic() < end:
                time.sleep(0.01)
            try:
                for _ in range(8):
                    seen.extend(self.read(folder).values())
            finally:
                open(stop, "w").close()
        watcher = threading.Thread(target=watch)
        watcher.start()
        self.run_seep(self.argv(job) + [stop], folder=folder, env=self.env(), timeout=120)
        watcher.join()
        self.assertGreaterEqual(len(seen), 8)
        for layout in seen:
            if layout["reason"] == "failed":
                sizes = {t[1] for s in layout["segments"] for t in s["tensors"]}
                self.assertEqual(len(sizes), 1, sizes)
                self.assertEqual(sum(len(s["tensors"]) for s in layout["segments"]), 3000)


if __name__ == "__main__":
    unittest.main()
