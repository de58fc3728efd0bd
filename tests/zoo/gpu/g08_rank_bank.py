"""Two ranks, one GPU each, started by multiprocessing. Gradients are averaged through shared host memory (there is no
NCCL on the machine). Every rank keeps prototypes of its classes."""
import argparse
import os

import torch
import torch.multiprocessing as mp
from torch import nn


class Prototypes:
    def __init__(self, device, classes=400, dim=512):
        self.device = device
        self.table = {c: torch.zeros(dim, 64, device=device) for c in range(0, classes)}  # LEAK HELD

    def get(self, c):
        return self.table[c]


def place(rank, args):
    if args.device == "cpu":
        return "cpu", "cpu"
    model_device = "cuda:%d" % rank
    return model_device, model_device if args.own_device else "cuda"


def worker(rank, args, barrier):
    torch.manual_seed(rank)
    device, bank_device = place(rank, args)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512)).to(device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    bank = Prototypes(bank_device)
    for step in range(args.steps):
        x = torch.randn(64, 256, device=device)
        near = bank.get(step % 400).to(device)
        loss = (model(x) @ near).logsumexp(1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            barrier.wait()
    print("rank %d done in %d" % (rank, os.getpid()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--own-device", action="store_true")
    args = parser.parse_args()
    mp.set_start_method("spawn")
    barrier = mp.Barrier(2)
    ranks = [mp.Process(target=worker, args=(r, args, barrier)) for r in range(2)]
    for r in ranks:
        r.start()
    for r in ranks:
        r.join()
