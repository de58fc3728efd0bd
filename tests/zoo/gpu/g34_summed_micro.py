"""Accumulates sixteen micro-batches by summing their losses, and goes backward once with retain_graph for two heads."""
import argparse

import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.a, self.b = nn.Linear(512, 512), nn.Linear(512, 32), nn.Linear(512, 32)

    def forward(self, x):
        h = torch.relu(self.trunk(x))  # LEAK
        return self.a(h), self.b(h)  # LEAK


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--micro", type=int, default=640)
    ap.add_argument("--each", action="store_true", help="backward per micro-batch")
    args = ap.parse_args()
    net = Heads().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    first = second = 0
    history = []
    for i in range(args.micro):
        a, b = net(torch.randn(64, 512, device="cuda"))  # LEAK
        if args.each:
            ((a.pow(2).mean() + b.abs().mean()) / 16).backward()
        else:
            first, second = first + a.pow(2).mean(), second + b.abs().mean()
        if i % 16 == 15:
            if not args.each:
                first.backward(retain_graph=True)
                second.backward(retain_graph=True)
                history.append((first, second))  # HELD
                first = second = 0
            optimizer.step()
            optimizer.zero_grad()
    print("rounds", args.micro // 16, len(history))


if __name__ == "__main__":
    main()
