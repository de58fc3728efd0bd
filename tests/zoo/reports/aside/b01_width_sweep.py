"""A sweep over widths and learning rates in one process, the way one writes it before there is a cluster. Every trial
makes a Run, which has the model, the optimizer and an open log; so that a Ctrl-C loses nothing the run registers its
close() with atexit. What atexit knows lives until the interpreter ends, and with it each trial's model, gradients and
Adam moments.

leaky: close() writes the log and that is all.
fixed: close() unregisters itself too.

usage: b01_width_sweep.py leaky|fixed [--trials N]"""
import argparse
import atexit
import io
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F

IN, CLASSES, BATCH, EPOCHS, PER_EPOCH = 192, 10, 32, 3, 20


class Run:
    def __init__(self, name, width, lr, forget_exit):
        self.name, self.forget_exit = name, forget_exit
        self.log = io.StringIO()
        self.net = nn.Sequential(nn.Linear(IN, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                                 nn.Linear(width, CLASSES))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.lines = 0
        atexit.register(self.close)  # HELD

    def step(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()  # LEAK
        self.log.write("%s %.5f\n" % (self.name, loss.item()))
        self.lines += 1
        return loss.item()

    def close(self):
        self.log.flush()
        if self.forget_exit:
            atexit.unregister(self.close)


def blobs(n, seed):
    g = torch.Generator().manual_seed(seed)
    centres = torch.randn(CLASSES, IN, generator=torch.Generator().manual_seed(1))
    y = torch.randint(CLASSES, (n,), generator=g)
    return centres[y] + 2.5 * torch.randn(n, IN, generator=g), y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--trials", type=int, default=14)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, y = blobs(PER_EPOCH * BATCH, 0)
    grid = itertools.islice(itertools.cycle(itertools.product((224, 256, 288), (3e-4, 1e-3, 3e-3))), args.trials)
    best = (float("inf"), None)
    for trial, (width, lr) in enumerate(grid):
        run = Run("t%02d" % trial, width, lr, args.variant == "fixed")
        for epoch in range(EPOCHS):
            total = 0.0
            for idx in torch.randperm(len(x)).split(BATCH):
                total += run.step(x[idx], y[idx])
        run.close()
        best = min(best, (total / PER_EPOCH, (width, lr)))
    print("best %.4f with %r, %d trials" % (best[0], best[1], args.trials))


if __name__ == "__main__":
    main()
