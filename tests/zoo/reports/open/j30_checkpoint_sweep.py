"""Evaluates a series of checkpoints: loads each, collects the scores of the whole test set, prints the AUC."""
import glob
import os
import tempfile

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Conv2d(1, 8, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 15 * 15, 32), nn.ReLU(),
                         nn.Linear(32, 1))


def write_checkpoints(folder, n=12):
    torch.manual_seed(0)
    net = build()
    for k in range(n):
        for p in net.parameters():
            p.data.add_(torch.randn_like(p) * 0.01)
        torch.save({"step": 100 * k, "model": net.state_dict(), "momentum": {
            n: torch.zeros_like(p) for n, p in net.named_parameters()}}, os.path.join(folder, "ckpt_%03d.pt" % k))


def test_batches(n=10, size=16):
    g = torch.Generator().manual_seed(77)
    for _ in range(n):
        y = torch.randint(2, (size,), generator=g)
        x = torch.randn(size, 1, 32, 32, generator=g) + 0.3 * y.view(-1, 1, 1, 1)
        yield x, y


def auc(score, y):
    order = score.argsort()
    rank = torch.empty(len(score))
    rank[order] = torch.arange(1., len(score) + 1)
    pos = y.sum()
    return ((rank[y == 1].sum() - pos * (pos + 1) / 2) / (pos * (len(y) - pos))).item()


class Evaluator:
    def evaluate(self, path):
        state = torch.load(path, map_location="cpu")
        net = build()
        net.load_state_dict(state["model"])
        net.eval()
        outputs = []
        with torch.no_grad():
            for x, y in test_batches():
                outputs.append({"score": net(x).squeeze(1), "target": y, "input": x})
        result = auc(torch.cat([o["score"] for o in outputs]), torch.cat([o["target"] for o in outputs]))
        return state["step"], result


torch.set_num_threads(1)
with tempfile.TemporaryDirectory() as folder:
    write_checkpoints(folder)
    evaluator, table = Evaluator(), {}
    for path in sorted(glob.glob(folder + "/*.pt")):
        step, value = evaluator.evaluate(path)
        table[step] = value
        if step % 300 == 0:
            print("step %4d  auc %.3f" % (step, value), flush=True)
print("best", max(table, key=table.get))
