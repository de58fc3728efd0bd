"""kernels/README.md: its programs run as they stand, with the library as it is installed, and its figures are theirs."""
import importlib.util
import re
import unittest

from tests.kernels.installed import ROOT, InstalledCase

PAGE = (ROOT / "kernels/README.md").read_text()


def blocks(language):
    return re.findall(r"(?ms)^```%s\n(.*?)^```$" % language, PAGE)


class Page(InstalledCase):
    def setUp(self):
        voxels, loader, memory = blocks("python")
        for name, text in (("voxels.py", voxels), ("loader.py", loader), ("memory.py", memory),
                           ("voxels.c", blocks("c")[0])):
            (self.work / name).write_text(text)

    def test_the_program_in_c_prints_what_the_page_says(self):
        commands, = blocks("sh")
        expected, = blocks("text")
        self.assertEqual(self.command("sh", "-ec", commands), expected)

    def test_collate_gives_the_points_of_each_voxel(self):
        """Held against NumPy's own way, which takes much longer."""
        self.python("-c", """
import numpy as np
from voxels import collate
rng = np.random.default_rng(2)
scenes = [rng.uniform(-1, 1, (n, 3)) for n in (5000, 1, 3000)]
points, of_point, voxels, start, members = collate(scenes, 0.1)
batch = np.repeat([0, 1, 2], [5000, 1, 3000])
keys = np.column_stack([batch, np.floor(points / np.float32(0.1)).astype(np.int32)])
assert (voxels[of_point] == keys).all()
assert len(voxels) == len(np.unique(keys, axis=0)) and start[0] == 0 and start[-1] == len(points)
for v in range(len(voxels)):
    assert (members[start[v]:start[v + 1]] == np.flatnonzero(of_point == v)).all()
""")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
    def test_the_loader_runs_in_workers(self):
        lines = self.python("loader.py").splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            voxels, mean = re.match(r"(\d+) voxels, the mean of the first: tensor\(\[(.*)\]\)", line).groups()
            self.assertGreater(int(voxels), 30000)
            self.assertTrue(all(0 <= float(x) <= 1 for x in mean.split(",")), line)

    def test_the_memory_is_what_the_page_says(self):
        """The kernel counts pages in batches, and allocators differ."""
        rows = re.findall(r"^\| ([\d,]+) \|" + 4 * r" ([\d.,]+) MB \|", PAGE, re.M)
        self.assertEqual(len(rows), 3)
        for densest, *figures in rows[:2]:
            told = [float(figure.replace(",", "")) for figure in figures]
            seen = []
            for kind in ("padded", "csr"):
                said = self.python("memory.py", kind, densest.replace(",", ""))
                seen += [float(x) for x in re.search(r"map ([\d.]+) MB, peak (\d+) MB", said).groups()]
            with self.subTest(densest=densest):
                for size in (0, 2):
                    self.assertAlmostEqual(seen[size], told[size], delta=0.02 * told[size])
                self.assertAlmostEqual(seen[1], told[1], delta=0.1 * told[1] + 8)
                self.assertAlmostEqual(seen[3], told[3], delta=0.1 * told[3] + 8)


if __name__ == "__main__":
    unittest.main()
