"""Recommendation with an embedding table that makes a row for an identifier when it first comes up; the table doubles
when it is full, and the optimizer's moments with it. There are 12000 identifiers, all of which have come up after the
first half of the run. Looks like a leak, is the model.

usage: b19_growing_rows.py [--steps N]"""
import argparse

import numpy as np
import torch
import torch.nn as nn

ITEMS, DIM, BATCH = 12000, 128, 128


class Rows:
    """identifier -> row, and the table of rows."""

    def __init__(self, optimizer_of):
        self.index, self.optimizer_of = {}, optimizer_of
        self.table = nn.Parameter(0.05 * torch.randn(512, DIM))
        self.optimizer = optimizer_of([self.table])

    def grow(self):
        state = self.optimizer.state[self.table]
        fresh = nn.Parameter(torch.cat((self.table.detach(), 0.05 * torch.randn_like(self.table))))
        self.optimizer = self.optimizer_of([fresh])
        self.optimizer.state[fresh] = {"step": state["step"], "exp_avg": torch.cat((state["exp_avg"],) * 2),
                                       "exp_avg_sq": torch.cat((state["exp_avg_sq"],) * 2)}
        self.table = fresh

    def __call__(self, identifiers):
        rows = [self.index.setdefault(i, len(self.index)) for i in identifiers]
        while len(self.index) > len(self.table):
            self.grow()
        return nn.functional.embedding(torch.tensor(rows), self.table, sparse=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=600)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.RandomState(0)
    rows = Rows(lambda parameters: torch.optim.SparseAdam(parameters, lr=5e-3))
    tower = nn.Sequential(nn.Linear(2 * DIM, 96), nn.ReLU(), nn.Linear(96, 1))
    optimizer = torch.optim.Adam(tower.parameters(), lr=2e-3)
    for step in range(args.steps):
        known = min(ITEMS, 200 + ITEMS * 2 * step // args.steps)
        left, right = rng.randint(known, size=(2, BATCH))
        y = torch.from_numpy((left % 7 == right % 7).astype(np.float32))
        x = torch.cat((rows(["item-%d" % i for i in left]), rows(["item-%d" % i for i in right])), 1)
        loss = nn.functional.binary_cross_entropy_with_logits(tower(x)[:, 0], y)
        optimizer.zero_grad()
        rows.optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rows.optimizer.step()
    print("steps %d, loss %.4f, %d rows of %d" % (args.steps, loss.item(), len(rows.index), len(rows.table)))


if __name__ == "__main__":
    main()
