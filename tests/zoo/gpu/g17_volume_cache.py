"""Patches of medical volumes. Decoding is slow, so the dataset keeps what it has decoded, and where it is used."""
import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.backends.cudnn.enabled = False


def decode(index, size=40):
    grid = torch.arange(size ** 3, dtype=torch.float32).view(1, size, size, size)
    return torch.sin(grid * (index + 1) / math.e)


class Volumes(Dataset):
    def __init__(self, n, device, cached):
        self.n, self.device, self.cached = n, device, cached
        self.store = {}

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if not self.cached:
            return decode(i), i % 2
        if i not in self.store:
            self.store[i] = decode(i).to(self.device)  # LEAK HELD
        return self.store[i], i % 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv3d(1, 4, 3, stride=2)
        self.f = nn.Linear(4, 2)

    def forward(self, x):
        return self.f(torch.relu(self.c(x)).mean((2, 3, 4)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--volumes", type=int, default=180)
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--no-cache", action="store_true")
    a = ap.parse_args()
    loader = DataLoader(Volumes(a.volumes, a.device, not a.no_cache), batch_size=4, shuffle=True)
    net = Net().to(a.device)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for epoch in range(a.epochs):
        for volume, label in loader:
            out = net(volume.to(a.device))
            loss = nn.functional.cross_entropy(out, label.to(a.device))
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", epoch)


if __name__ == "__main__":
    main()
