"""A small training with eight loader workers: --leak keeps that many KiB of each step's loss history, --hoard keeps
every sample that a worker has made."""
import argparse

import torch
from torch.utils.data import DataLoader, Dataset

kept = []


class Samples(Dataset):
    def __init__(self, hoard):
        self.hoard, self.cache = hoard, {}

    def __len__(self):
        return 960

    def __getitem__(self, i):
        sample = torch.randn(256)
        if self.hoard:
            self.cache[i] = torch.randn(2048)
        return sample


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--leak", type=int, default=0)
    options.add_argument("--hoard", action="store_true")
    options.add_argument("--width", type=int, default=256)
    options = options.parse_args()
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, options.width), torch.nn.ReLU(), torch.nn.Linear(options.width, 1))
    optimizer = torch.optim.Adam(model.parameters())
    loader = DataLoader(Samples(options.hoard), batch_size=16, num_workers=8, persistent_workers=True)
    for _ in range(3):
        for batch in loader:
            loss = model(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if options.leak:
                kept.append(torch.zeros(options.leak * 256))  # KiB of floats


main()
