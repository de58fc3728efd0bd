"""An experiment class that restores itself from a file, with momentum, and keeps what it read for its report."""
import os
import sys
import tempfile

import torch
import torch.nn as nn


class Experiment:
    def __init__(self, fix):
        self.fix = fix
        self.net = nn.Sequential(
            nn.Linear(360, 1024), nn.BatchNorm1d(1024), nn.ReLU(),
            nn.Linear(1024, 1024), nn.BatchNorm1d(1024), nn.ReLU(), nn.Linear(1024, 40)).to("cuda")
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
        self.restored = None

    def one(self):
        x, y = torch.randn(48, 360).to("cuda"), torch.randint(0, 40, (48,)).to("cuda")
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    def save(self, path):
        torch.save(dict(net=self.net.state_dict(), opt=self.opt.state_dict(), best=0.7), path)

    def restore(self, path):
        state = torch.load(path, weights_only=True)  # LEAK
        self.net.load_state_dict(state["net"])
        self.opt.load_state_dict(state["opt"])
        self.restored = {"best": state["best"]} if self.fix else state  # HELD


if __name__ == "__main__":
    fix = "--fix" in sys.argv
    with tempfile.TemporaryDirectory() as d:
        first = Experiment(fix)
        first.one()
        first.save(os.path.join(d, "exp.pt"))
        del first
        exp = Experiment(fix)
        exp.restore(os.path.join(d, "exp.pt"))
    for _ in range(150):
        exp.one()
    print("from", exp.restored["best"])
