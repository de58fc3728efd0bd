"""Gradient statistics every few steps, for an estimate of the gradient's noise scale."""
import argparse

import torch
import torch.nn as nn


class GradientMonitor:
    def __init__(self, model, mode):
        self.model, self.mode = model, mode
        self.snapshots = []

    def capture(self):
        if self.mode == "tensors":
            self.snapshots.append({n: p.grad for n, p in self.model.named_parameters()})  # HELD
        else:
            self.snapshots.append({n: p.grad.pow(2).sum().item() for n, p in self.model.named_parameters()})

    def norm(self, snapshot):
        if self.mode == "tensors":
            return sum(g.pow(2).sum().item() for g in snapshot.values()) ** 0.5
        return sum(snapshot.values()) ** 0.5

    def scale(self):
        norms = torch.tensor([self.norm(s) for s in self.snapshots[-10:]])
        return (norms.var() / norms.mean() ** 2).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=240)
    ap.add_argument("--capture", choices=("tensors", "norms"), default="tensors")
    args = ap.parse_args()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2), nn.ReLU(), nn.Conv2d(32, 96, 3, stride=2), nn.ReLU(),
                        nn.Conv2d(96, 96, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(96, 10))
    opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
    monitor = GradientMonitor(net, args.capture)
    gen = torch.Generator().manual_seed(4)
    for step in range(args.steps):
        y = torch.randint(10, (16,), generator=gen)
        x = torch.rand(16, 3, 20, 20, generator=gen) * (1 + y.view(-1, 1, 1, 1) / 5)
        opt.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()  # LEAK
        if step % 4 == 0:
            monitor.capture()
        opt.step()
    print("steps %d loss %.3f noise %.5f" % (args.steps, loss.item(), monitor.scale()))


main()
