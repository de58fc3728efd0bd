"""A dataset whose rows each worker normalises where they are: the array that all share becomes each worker's own, page by page.
The fix changes a copy of the row.

usage: changed_rows.py [leaky|fixed]"""
import argparse
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

ROWS, WIDTH = 12000, 2048


class Rows(Dataset):
    def __init__(self, variant):
        self.rows, self.variant = np.random.rand(ROWS, WIDTH).astype(np.float32), variant  # LEAK

    def __len__(self):
        return ROWS

    def __getitem__(self, i):
        row = self.rows[i].copy() if self.variant == "fixed" else self.rows[i]
        row -= row.mean()
        row /= row.std() + 1e-6
        return torch.from_numpy(row[:64].copy())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, data, steps = torch.nn.Linear(64, 4), Rows(args.variant), 0
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(args.epochs):
        for batch in DataLoader(data, batch_size=16, shuffle=True, num_workers=2):
            loss = net(batch).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
            time.sleep(0.01)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
