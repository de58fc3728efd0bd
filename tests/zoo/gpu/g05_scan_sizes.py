"""Semantic segmentation of scans with sparse layers, in the manner of voxel networks: a scan has 90,000 to 250,000
voxels, and nearly no two have the same number. Small scans come first. `--quantum` pads them up to its multiples."""
import argparse

import numpy as np
import torch
import torch.nn as nn


class SubM(nn.Module):
    def __init__(self, cin, cout, kernel=3):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(kernel, cin, cout) * 0.05)
        self.norm = nn.BatchNorm1d(cout)

    def forward(self, feats):
        out = feats @ self.weight[0]
        for k in range(1, self.weight.shape[0]):
            out = out + torch.roll(feats, k, 0) @ self.weight[k]  # LEAK
        return torch.relu(self.norm(out))  # LEAK


class VoxelNet(nn.Module):
    def __init__(self, classes=13):
        super().__init__()
        self.stem = SubM(4, 32)
        self.last = SubM(32, 32)
        self.head = nn.Linear(32, classes)

    def forward(self, feats):
        return self.head(self.last(self.stem(feats)))


def scans(n, rng, quantum):
    for i in range(n):
        n_voxels = 90_000 + 155_000 * i // n + int(rng.integers(5_000))
        padded = -(-n_voxels // quantum) * quantum
        yield padded


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--scans", type=int, default=60)
    ap.add_argument("--quantum", type=int, default=1)
    args = ap.parse_args()
    rng = np.random.default_rng(0)
    net = VoxelNet().to(args.device)
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    for epoch in range(2):
        for n_voxels in scans(args.scans, rng, args.quantum):
            feats = torch.rand(n_voxels, 4, device=args.device)  # LEAK
            labels = torch.empty(len(feats), dtype=torch.long, device=args.device)
            loss = nn.functional.cross_entropy(net(feats), labels)  # LEAK
            opt.zero_grad()
            loss.backward()  # LEAK
            opt.step()
    if args.device == "cuda":
        print("allocated %d MB, reserved %d MB" % (torch.cuda.memory_allocated() >> 20,
                                                   torch.cuda.memory_reserved() >> 20))


if __name__ == "__main__":
    main()
