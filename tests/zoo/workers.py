"""A DataLoader whose workers leak in __getitem__ and a training loop that leaks in the trainer.

usage: workers.py [--workers N] [--method fork|spawn|forkserver] [--persistent] [--epochs N] [--fixed]"""
import argparse

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

LEAKED_ITEM = 64 * 1024
LEAKED_STEP = 200 * 1024


class Growing(Dataset):
    def __init__(self, n, leak):
        self.n, self.leak, self.seen = n, leak, []

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if self.leak:
            self.seen.append(np.ones(LEAKED_ITEM, dtype=np.uint8))  # LEAK: item
        return torch.full((16,), float(i % 7)), torch.tensor([float(i % 3)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--method", default="fork", choices=("fork", "spawn", "forkserver"))
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--fixed", action="store_true")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Linear(16, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loader = DataLoader(Growing(640, not args.fixed), batch_size=8, num_workers=args.workers,
                        persistent_workers=args.persistent and args.workers > 0,
                        multiprocessing_context=args.method if args.workers else None)
    kept, steps = [], 0
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = (net(x) - y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
            if not args.fixed:
                kept.append(torch.ones(LEAKED_STEP // 4))  # LEAK: step
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
