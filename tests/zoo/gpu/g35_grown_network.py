"""Progressive growing: at each resolution a new network and its optimizer; the trainer's callbacks refer to the old."""
import argparse

import torch
from torch import nn


class Callbacks:
    def __init__(self):
        self.at_end = []

    def add(self, call):
        self.at_end.append(call)  # HELD

    def clear(self):
        self.at_end.clear()


def stage(width, callbacks, steps, clear):
    net = nn.Sequential(nn.Linear(128, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 8)).cuda()  # LEAK
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    if clear:
        callbacks.clear()
    callbacks.add(lambda: optimizer.state_dict())
    for _ in range(steps):
        loss = net(torch.randn(64, 128, device="cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # LEAK


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--stages", type=int, default=14)
    ap.add_argument("--steps", type=int, default=12)
    ap.add_argument("--clear", action="store_true")
    args = ap.parse_args()
    callbacks = Callbacks()
    for n in range(args.stages):
        stage(512, callbacks, args.steps, args.clear)
    print("stages", args.stages, "callbacks", len(callbacks.at_end))


if __name__ == "__main__":
    main()
