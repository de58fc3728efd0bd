"""`seep export --format snapshot`, as Python's pickle and PyTorch's own readers take it."""
import glob
import importlib.util
import os
import pathlib
import pickle
import pickletools
import unittest

from tests.cli.test_export import VALUES, ExportCase
from tests.e2e.support import ROOT, needs

SIZE = 1 << 19
JOB = """
import ctypes, seep
made = ctypes.CDLL(None).seep_block_made
made.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_size_t]
def tensors(space, base):
    made(space, base, %d)
def once(space, base):
    made(space, base, 1000)
for space in SPACES:
    once(space, 1 << 30)
for i in range(60):
    for space in SPACES:
        tensors(space, (1 << 40) + (i << 20))
    seep.step()
""" % SIZE


def readers():
    """torch/cuda/_memory_viz.py of every PyTorch 2 that is here; it needs no other part of it to read."""
    places = glob.glob(str(ROOT / "build/gpu-torch/*/venv/lib/*/site-packages/torch"))
    found = importlib.util.find_spec("torch")
    places += [os.path.dirname(found.origin)] if found and found.origin else []
    found = (os.path.join(place, "cuda/_memory_viz.py") for place in places)
    return [p for p in found if os.path.exists(p) and "segment_plot" in pathlib.Path(p).read_text()]


class Snapshot(ExportCase):
    _folders = {}

    def folder(self, *spaces):
        """The profile of a job that announces blocks in these spaces."""
        if spaces not in self._folders:
            job = JOB.replace("SPACES", repr([s.encode() for s in spaces]))
            name = "-".join(spaces).replace(":", "")
            path = os.path.join(self._root, name + ".py")
            with open(path, "w") as f:
                f.write(job)
            self._folders[spaces] = self.profile(name, script=path)
        return self._folders[spaces]

    def snapshot(self, folder, *args):
        data = self.export("snapshot", *args, folder=folder)
        self.assertEqual(data[:2], b"\x80\x02")
        return pickle.loads(data)

    def test_the_blocks_of_a_device_follow_each_other_and_are_its_sites(self):
        folder = self.folder("tensor:0", "tensor:2")
        for measure in ("retained", "peak", "live"):
            snapshot = self.snapshot(folder, "--measure", measure)
            self.assertEqual([s["device"] for s in snapshot["segments"]], [0, 2])
            self.assertEqual(snapshot["device_traces"], [[], [], []])
            for segment in snapshot["segments"]:
                at = segment["address"]
                for block in segment["blocks"]:
                    self.assertEqual((block["address"], block["state"]), (at, "active_allocated"))
                    self.assertEqual(block["size"], block["requested_size"])
                    at += block["size"]
                for key in ("total_size", "allocated_size", "active_size", "requested_size"):
                    self.assertEqual(segment[key], at - segment["address"])
                space = "tensor:%d" % segment["device"]
                wanted = [VALUES[measure](s) for s in self.sites(folder) if s["space"] == space]
                self.assertEqual(sorted(b["size"] for b in segment["blocks"]), sorted(filter(None, wanted)))

    def test_a_blocks_frames_are_its_stack_innermost_first(self):
        folder = self.folder("tensor:0", "tensor:2")
        block = max(self.snapshot(folder)["segments"][0]["blocks"], key=lambda b: b["size"])
        self.assertGreaterEqual(block["size"], 45 * SIZE)
        names = [frame["name"] for frame in block["frames"]]
        self.assertLess(names.index("tensors"), names.index("<module>"))
        frame = block["frames"][names.index("tensors")]
        self.assertTrue(frame["filename"].endswith(".py"), frame)
        self.assertEqual(set(frame), {"filename", "line", "name"})

    def test_a_frame_is_there_once(self):
        frames = [f for s in self.snapshot(self.folder("tensor:0", "tensor:2"))["segments"] for b in s["blocks"]
                  for f in b["frames"]]
        self.assertEqual(len({id(f) for f in frames}), len({tuple(sorted(f.items())) for f in frames}))

    def test_without_tensors_it_is_what_the_driver_gave(self):
        snapshot = self.snapshot(self.folder("device:1"))
        self.assertEqual([s["device"] for s in snapshot["segments"]], [1])
        both = self.snapshot(self.folder("device:1", "tensor:0"))
        self.assertEqual([s["device"] for s in both["segments"]], [0])

    def test_a_job_without_devices_has_none(self):
        self.assertIn("--measure or format", self.cannot("export", self.leak, "--format", "snapshot"))
        path = self.path("out")
        self.cannot("export", self.leak, "--format", "snapshot", "-o", path)
        self.assertEqual(os.listdir(self.dir), [], "what was begun is left behind")

    def test_memory_viz_knows_every_opcode(self):
        """Those of unpickle() in torch/utils/viz/MemoryViz.js, of PyTorch 2."""
        known = {"PROTO", "EMPTY_DICT", "MARK", "BINUNICODE", "EMPTY_LIST", "BININT", "LONG1", "TUPLE2", "NEWFALSE",
                 "APPENDS", "SETITEMS", "LONG_BINPUT", "LONG_BINGET", "STOP"}
        used = {op.name for op, _, _ in pickletools.genops(self.export("snapshot", folder=self.folder("tensor:0")))}
        self.assertLessEqual(used, known)

    @needs(readers(), "no PyTorch 2 here")
    def test_pytorch_reads_it(self):
        snapshot = self.snapshot(self.folder("tensor:0", "tensor:2"))
        total = sum(s["total_size"] for s in snapshot["segments"])
        for path in readers():
            spec = importlib.util.spec_from_file_location("memory_viz", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            with self.subTest(path):
                stacks = module.memory(snapshot, format_flamegraph=lambda lines: lines).splitlines()
                self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in stacks), total)
                self.assertTrue(any("tensors" in line and "<module>" in line for line in stacks), stacks)
                self.assertIn("segments: 2\n", module.segsum(snapshot))
                self.assertEqual(module.trace(snapshot), "", "a history")


if __name__ == "__main__":
    unittest.main()
