"""Two ranks by multiprocessing, each of which loads the weights that rank 0 once saved from its own GPU."""
import argparse
import os
import tempfile

import torch
import torch.multiprocessing as mp
from torch import nn


def build():
    return nn.Sequential(nn.Linear(640, 1200), nn.GELU(), nn.Linear(1200, 1200), nn.GELU(), nn.Linear(1200, 640))


class Runner:
    def __init__(self, rank, path, remap):
        self.device = torch.device("cuda", rank)
        self.model = build().to(self.device)
        where = {"cuda:0": "cuda:%d" % rank} if remap else None
        self.loaded = torch.load(path, map_location=where, weights_only=True)  # LEAK HELD
        self.model.load_state_dict(self.loaded)
        if remap:
            del self.loaded
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def run(self, iters):
        for _ in range(iters):
            x = torch.randn(32, 640, device=self.device)
            self.optimizer.zero_grad()
            (self.model(x) - x).abs().mean().backward()
            self.optimizer.step()


def entry(rank, path, remap):
    Runner(rank, path, remap).run(100)
    print("rank", rank)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--remap", action="store_true")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "weights.pt")
        torch.save(build().to("cuda:0").state_dict(), path)
        mp.spawn(entry, (path, args.remap), nprocs=2)
