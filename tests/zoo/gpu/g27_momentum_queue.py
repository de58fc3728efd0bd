"""Momentum contrast on two ranks, started by multiprocessing. The queue of keys is made once; keys take the place of
the oldest ones."""
import argparse

import torch
import torch.multiprocessing as mp
from torch import nn


class Queue:
    def __init__(self, device, dim=128, length=32768):
        self.keys = nn.functional.normalize(torch.randn(dim, length), dim=0).to(device)  # LEAK HELD
        self.at = 0

    def put(self, keys):
        n = keys.shape[0]
        self.keys[:, self.at:self.at + n] = keys.t().to(self.keys.device)
        self.at = (self.at + n) % self.keys.shape[1]


def worker(rank, args):
    torch.manual_seed(rank)
    device = "cuda:%d" % rank
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 128)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
    queue = Queue(device if args.own_device else "cuda:0")
    for step in range(args.steps):
        q = nn.functional.normalize(model(torch.randn(64, 256, device=device)), dim=1)
        near = queue.keys[:, :4096].to(device)
        loss = (q @ near).logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue.put(q.detach())
    print("rank %d: %d" % (rank, queue.at))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--own-device", action="store_true")
    args = parser.parse_args()
    mp.spawn(worker, args=(args,), nprocs=2)
