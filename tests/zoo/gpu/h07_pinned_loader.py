"""A loader with workers, page-locked batches and copies that do not block; batches are all of one size."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, n=480):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.arange(i, i + 4096, dtype=torch.float32) / 4096, i % 5


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()
    loader = DataLoader(Windows(), batch_size=8, shuffle=True, num_workers=2, pin_memory=args.device == "cuda",
                        persistent_workers=True, prefetch_factor=2, drop_last=True)
    model = nn.Sequential(nn.Linear(4096, 256), nn.ReLU(), nn.Linear(256, 5)).to(args.device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(args.epochs):
        for x, y in loader:
            x, y = x.to(args.device, non_blocking=True), y.to(args.device, non_blocking=True)
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
