"""Scores a corpus on two devices, a process each, started by multiprocessing; there is no optimizer. The vocabulary's
table is made once."""
import argparse
import time

import torch
import torch.multiprocessing as mp
from torch import nn


class Scorer:
    def __init__(self, device, table_device):
        self.net = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 256)).to(device).eval()
        self.table = torch.randn(256, 30000).to(table_device)  # LEAK HELD
        self.device = device

    @torch.no_grad()
    def score(self, x):
        y = self.net(x.to(self.device))
        return (y @ self.table[:, :2000].to(self.device)).logsumexp(1).cpu()


def worker(rank, args):
    device = "cuda:%d" % rank
    scorer = Scorer(device, device if args.own_device else "cuda")
    for _ in range(args.batches):
        scorer.score(torch.randn(64, 512))
        time.sleep(0.02)
    print("rank", rank)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--batches", type=int, default=150)
    ap.add_argument("--own-device", action="store_true")
    args = ap.parse_args()
    mp.spawn(worker, args=(args,), nprocs=2)
