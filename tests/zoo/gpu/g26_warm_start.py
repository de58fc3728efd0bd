"""Fine-tunes from a checkpoint of the weights alone; the trainer remembers what it began from."""
import argparse
import os
import tempfile

import torch
from torch import nn


def network():
    body = nn.Sequential(nn.Linear(1024, 1024), nn.Sequential(nn.ReLU(), nn.Linear(1024, 1024)), nn.ReLU())
    return nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), body, nn.Linear(1024, 512))


class Trainer:
    def __init__(self, path, drop):
        self.model = network().cuda()
        self.start = torch.load(path, map_location="cpu" if drop else None, weights_only=True)  # LEAK HELD
        self.model.load_state_dict(self.start)
        if drop:
            self.start = None
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3)

    def step(self):
        x = torch.randn(32, 512, device="cuda")
        loss = (self.model(x) - x).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=80)
    ap.add_argument("--drop", action="store_true")
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "best.pt")
        torch.save(network().cuda().state_dict(), path)
        trainer = Trainer(path, args.drop)
    for _ in range(args.steps):
        trainer.step()
    print("steps", args.steps)
