"""The batch is split over two devices by hand, as DataParallel does; outputs come together on the first."""
import argparse
import copy

import torch
from torch import nn


class TwoDevices:
    def __init__(self, module):
        self.first, self.second = module.to("cuda:0"), copy.deepcopy(module).to("cuda:1")

    def __call__(self, x):
        a, b = x.chunk(2)
        out = [self.first(a.to("cuda:0")), self.second(b.to("cuda:1"))]
        return torch.cat([o.to("cuda:0") for o in out])  # LEAK


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batches", type=int, default=30)
    ap.add_argument("--cpu", action="store_true")
    args = ap.parse_args()
    model = TwoDevices(nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 512)))
    params = list(model.first.parameters()) + list(model.second.parameters())
    optimizer = torch.optim.SGD(params, lr=1e-2)
    outputs = []
    for epoch in range(args.epochs):
        if args.cpu:
            outputs = []
        for _ in range(args.batches):
            out = model(torch.randn(64, 128))
            loss = out.logsumexp(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            outputs.append(out.detach().cpu() if args.cpu else out.detach())  # HELD
        print("epoch", epoch, "mean", len(outputs))


if __name__ == "__main__":
    main()
