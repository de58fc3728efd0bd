"""Trains a small network with PyTorch's profiler on, to see which operations are slow.

leaky: for the whole run, as a trainer's profiler="pytorch" does; events collect in the profiler's native lists.
fixed: for steps 10 to 14.

usage: b13_open_profile.py leaky|fixed [--steps N]"""
import argparse

import torch
import torch.nn as nn
from torch.autograd import profiler


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.a, self.b, self.n = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1), nn.BatchNorm2d(c)

    def forward(self, x):
        return torch.relu(x + self.n(self.b(torch.relu(self.a(x)))))


class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), Block(16), Block(16), nn.AdaptiveAvgPool2d(1),
                                 nn.Flatten(), nn.Linear(16, 5))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        self.step, self.loss = 0, 0.0

    def train(self, steps):
        for _ in range(steps):
            y = torch.randint(5, (16,))
            x = torch.randn(16, 3, 80, 80) + 0.3 * y[:, None, None, None]
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step, self.loss = self.step + 1, loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    trainer = Trainer()
    first, last = (0, args.steps) if args.variant == "leaky" else (10, 15)
    trainer.train(first)
    with profiler.profile() as prof:  # HELD
        trainer.train(last - first)  # LEAK
    trainer.train(args.steps - last)
    slowest = max(prof.function_events, key=lambda event: event.cpu_time_total)
    print("steps %d, loss %.4f, %d events, slowest %s" % (trainer.step, trainer.loss, len(prof.function_events), slowest.name))


if __name__ == "__main__":
    main()
