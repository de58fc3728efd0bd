"""seep.monitor(writer=…): the figures in TensorBoard, of a job without a framework."""
import os
import unittest

from tests.integrations.test_monitor import MonitorCase

LEAKS = """
with seep.monitor(writer=%s) as m:
    for _ in range(100):
        train_step(50000)
        m.step()
"""
WRITER = """
class SummaryWriter:
    def __init__(self, folder=None):
        self.told = {"folder": folder, "closed": False, "scalars": []}

    def add_scalar(self, tag, value, step):
        self.told["scalars"].append([tag, value, step])

    def add_text(self, tag, text, step):
        self.told["text"] = [tag, text, step]

    def close(self):
        with open("closed.json", "w") as f:
            json.dump(dict(self.told, closed=True), f)
"""
ABSENT = 'sys.modules.update({"torch": None, "torch.utils": None, "torch.utils.tensorboard": None, "tensorboardX": None})\n'


class Boards(MonitorCase):
    def train_with(self, before, writer, after=""):
        self.train(before + LEAKS % writer + after)

    def has_all(self, told):
        figures = {tag: value for tag, value, _ in told["scalars"]}
        self.assertAlmostEqual(figures["seep/host_growth_bytes_per_step"], 50000, delta=500)
        self.assertEqual({step for _, _, step in told["scalars"][-len(figures):]}, {100})
        self.assertEqual((told["text"][0], told["text"][2]), ("seep/finding", 100))
        self.assertIn("train.py:8 in train_step", told["text"][1])

    def test_a_writer_of_the_jobs_own_gets_all_and_stays_open(self):
        self.train_with(WRITER + "own = SummaryWriter()\n", "own", "print(json.dumps(own.told))\n")
        self.has_all(self.said[0])
        self.assertFalse(self.said[0]["closed"])

    def test_a_folder_gets_a_writer_which_is_closed(self):
        os.mkdir(self.path("tensorboardX"))
        with open(self.path("tensorboardX/__init__.py"), "w") as f:
            f.write("import json\n" + WRITER)
        self.train_with("", '"runs/train"', 'print(open("closed.json").read())\n')
        self.has_all(self.said[0])
        self.assertEqual((self.said[0]["folder"], self.said[0]["closed"]), ("runs/train", True))

    def test_without_tensorboard_it_says_so_and_watches_all_the_same(self):
        self.train_with(ABSENT, '"runs"')
        missing, grows = self.lines
        self.assertIn("pip install tensorboard, or tensorboardX", missing)
        self.assertIn("grows by", grows)

    def test_a_writer_that_fails_ends_nothing_but_itself(self):
        self.train_with("class Full:\n    def add_scalar(self, *_):\n        raise OSError('disk full')\n", "Full()", "said(m)\n")
        self.assertEqual(len([line for line in self.lines if "no more is written for TensorBoard: disk full" in line]), 1, self.lines)
        self.assertTrue(self.said[0]["finding"])


if __name__ == "__main__":
    unittest.main()
