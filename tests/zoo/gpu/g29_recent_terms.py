"""Anneals a weight by the mean of the last hundred losses."""
import argparse
import collections

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(256, 512), nn.Linear(512, 64)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))  # LEAK


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--steps", type=int, default=400)
    ap.add_argument("--values", action="store_true")
    args = ap.parse_args()
    net = Net().to(args.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    recent = collections.deque(maxlen=100)
    for step in range(args.steps):
        x = torch.randn(128, 256, device=args.device)  # LEAK
        out = net(x)
        distance = (out - 1).abs().mean()
        spread = out.softmax(1).pow(2).sum(1).mean()  # LEAK
        weight = min(1.0, len(recent) / 100)
        optimizer.zero_grad()
        (distance * weight).backward()
        optimizer.step()
        recent.append(float(spread) if args.values else spread)  # HELD
    print("losses", len(recent))


if __name__ == "__main__":
    main()
