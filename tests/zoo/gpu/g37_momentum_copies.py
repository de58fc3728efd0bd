"""Averages weights along the way (SWA) by keeping every tenth step's state dict on the device."""
import argparse
import copy

import torch
from torch import nn


class Averaged:
    def __init__(self, most):
        self.most, self.states = most, {}

    def add(self, step, net):
        self.states[step] = copy.deepcopy(net.state_dict())  # LEAK HELD
        while self.most and len(self.states) > self.most:
            del self.states[min(self.states)]

    def mean(self):
        states = list(self.states.values())
        return {k: sum(s[k] for s in states) / len(states) for k in states[0]}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--most", type=int, default=0)
    args = ap.parse_args()
    net = nn.Sequential(nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 8)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    averaged = Averaged(args.most)
    for step in range(args.steps):
        loss = net(torch.randn(32, 256, device="cuda")).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            averaged.add(step, net)
    print("states", len(averaged.states), len(averaged.mean()))


if __name__ == "__main__":
    main()
