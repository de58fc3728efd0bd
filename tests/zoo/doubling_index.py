"""Training that puts each step's embeddings into an index for a search at the end. The index doubles its array whenever it
is full, as faiss and std::vector do, so nearly all steps allocate nothing, and the process ends at the next jump. The fix
keeps the latest ones.

usage: doubling_index.py [leaky|fixed] [--steps N]"""
import argparse

import numpy as np
import torch

WIDTH = 256
BATCH = 128
BOUND = 1024


class Index:
    def __init__(self, bound):
        self.rows = np.zeros((BATCH, WIDTH), np.float32)
        self.n = 0
        self.bound = bound

    def add(self, rows):
        if self.n + len(rows) > self.bound:
            self.n = 0
        if self.n + len(rows) > len(self.rows):
            grown = np.zeros((2 * len(self.rows), WIDTH), np.float32)  # LEAK
            grown[:self.n] = self.rows[:self.n]
            self.rows = grown
        self.rows[self.n:self.n + len(rows)] = rows
        self.n += len(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=700)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    index = Index(1 << 40 if args.variant == "leaky" else BOUND)
    net = torch.nn.Linear(WIDTH, WIDTH)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    for step in range(args.steps):
        rows = net(torch.randn(BATCH, WIDTH))
        optimizer.zero_grad()
        rows.pow(2).mean().backward()
        optimizer.step()
        index.add(rows.detach().numpy())
    print("steps %d, %d rows" % (args.steps, index.n))


if __name__ == "__main__":
    main()
