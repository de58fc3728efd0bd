"""Batches that are joined of items, which come sorted by length: the last batch is still there as a step ends, each is
larger than the one before, and cat made it. Nothing is kept.

usage: healthy_sorted_batches.py [--items N]"""
import argparse

import torch

BATCH = 4


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=640)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    lengths = sorted(torch.randint(20, 900, (args.items,)).tolist())
    net = torch.nn.Sequential(torch.nn.Linear(24, 48), torch.nn.ReLU(), torch.nn.Linear(48, 4))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for first in range(0, args.items, BATCH):
        batch = torch.cat([torch.randn(n, 24) for n in lengths[first:first + BATCH]])
        loss = net(batch).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("items %d, loss %.3f" % (args.items, loss.item()))


if __name__ == "__main__":
    main()
