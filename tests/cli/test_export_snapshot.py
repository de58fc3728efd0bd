"""`seep export --format snapshot`, as Python's pickle and PyTorch's own readers take it."""
import glob
import importlib.util
import os
import pathlib
import pickle
import pickletools
import unittest

from tests.e2e.caching_jobs import CachingCase
from tests.e2e.support import ROOT, SeepCase, needs

JOB = """
for device in (0, 1):
    at = segment(20 * MIB, device)
    kept = [tensor(at + i * MIB, MIB // 2, device) for i in range(20)]
    caching.caching_oom(device, 16 * MIB)
"""


def readers():
    """torch/cuda/_memory_viz.py of every PyTorch 2 that is here; it needs no other part of it to read."""
    places = glob.glob(str(ROOT / "build/gpu-torch/*/venv/lib/*/site-packages/torch"))
    found = importlib.util.find_spec("torch")
    places += [os.path.dirname(found.origin)] if found and found.origin else []
    found = (os.path.join(place, "cuda/_memory_viz.py") for place in places)
    return [p for p in found if os.path.exists(p) and "segment_plot" in pathlib.Path(p).read_text()]


class Snapshot(CachingCase):
    def setUp(self):
        super().setUp()
        profile = self.run_seep(self.argv(JOB), env=self.env())
        done = self.seep("export", profile.folder, "--format", "snapshot")
        self.assertEqual((done.status, done.err), (0, ""))
        self.data = done.stdout
        self.assertEqual(self.data[:2], b"\x80\x02")
        self.snapshot = pickle.loads(self.data)

    def test_each_device_has_its_segments(self):
        self.assertEqual([s["device"] for s in self.snapshot["segments"]], [0, 1])
        self.assertEqual(self.snapshot["device_traces"], [[], []])

    def test_a_blocks_frames_are_its_stack_innermost_first(self):
        block = next(b for b in self.snapshot["segments"][0]["blocks"] if b["state"] == "active_allocated")
        names = [frame["name"] for frame in block["frames"]]
        self.assertLess(names.index("tensor"), names.index("<module>"))
        frame = block["frames"][names.index("tensor")]
        self.assertTrue(frame["filename"].endswith(".py"), frame)
        self.assertEqual(set(frame), {"filename", "line", "name"})

    def test_a_frame_is_there_once(self):
        frames = [f for s in self.snapshot["segments"] for b in s["blocks"] for f in b["frames"]]
        self.assertGreater(len(frames), 40)
        self.assertEqual(len({id(f) for f in frames}), len({tuple(sorted(f.items())) for f in frames}))

    def test_memory_viz_knows_every_opcode(self):
        """Those of unpickle() in torch/utils/viz/MemoryViz.js, of PyTorch 2."""
        known = {"PROTO", "EMPTY_DICT", "MARK", "BINUNICODE", "EMPTY_LIST", "BININT", "LONG1", "TUPLE2", "NEWFALSE",
                 "APPENDS", "SETITEMS", "LONG_BINPUT", "LONG_BINGET", "STOP"}
        used = {op.name for op, _, _ in pickletools.genops(self.data)}
        self.assertLessEqual(used, known)

    def test_seep_reads_it(self):
        written = os.path.join(self.dir, "written.pickle")
        with open(written, "wb") as f:
            f.write(self.data)
        spaces = self.report(written)["spaces"]
        for number, segment in enumerate(self.snapshot["segments"]):
            live = sum(b["size"] for b in segment["blocks"] if b["state"] == "active_allocated")
            self.assertEqual(spaces["tensor:%d" % number]["live_bytes"], live)

    @needs(readers(), "no PyTorch 2 here")
    def test_pytorch_reads_it(self):
        total = sum(s["total_size"] for s in self.snapshot["segments"])
        for path in readers():
            spec = importlib.util.spec_from_file_location("memory_viz", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            with self.subTest(path):
                stacks = module.memory(self.snapshot, format_flamegraph=lambda lines: lines).splitlines()
                self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in stacks), total)
                self.assertTrue(any("tensor" in line and "<module>" in line for line in stacks), stacks)
                self.assertIn("segments: 2\n", module.segsum(self.snapshot))
                self.assertEqual(module.trace(self.snapshot), "", "a history")


class NoDevice(SeepCase):
    def test_a_job_without_devices_has_none(self):
        profile = self.run_seep(["true"])
        path = self.path("out")
        done = self.seep("export", profile.folder, "--format", "snapshot", "-o", path)
        self.assertEqual(done.status, 2)
        self.assertIn("--measure or format", self.one_line_error(done))
        self.assertFalse(os.path.exists(path), "what was begun is left behind")


if __name__ == "__main__":
    unittest.main()
