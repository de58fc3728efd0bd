"""Resumes a run from its checkpoint. The checkpoint has the weights, the optimizer's state and the averaged weights."""
import argparse
import os
import tempfile

import torch
import torch.nn as nn


def build(device):
    model = nn.Sequential(nn.Embedding(8000, 512), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(),
                          nn.Linear(512, 1000)).to(device)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


def step_on(model, optimizer, device):
    tokens = torch.zeros(8, 32, dtype=torch.long, device=device)
    labels = torch.zeros(8, dtype=torch.long, device=device)
    loss = nn.functional.cross_entropy(model(tokens).mean(1), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def save(path, device):
    model, optimizer = build(device)
    step_on(model, optimizer, device)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "ema": {k: v.clone() for k, v in model.state_dict().items()}, "iteration": 40000}, path)


class Session:
    def __init__(self, args, path):
        self.args = args
        self.model, self.optimizer = build(args.device)
        if args.map_location:
            loaded = torch.load(path, map_location=args.map_location)
            self.iteration = loaded["iteration"]
        else:
            self.checkpoint = loaded = torch.load(path)  # LEAK HELD
            self.iteration = self.checkpoint["iteration"]
        self.model.load_state_dict(loaded["model"])
        self.optimizer.load_state_dict(loaded["optimizer"])

    def run(self):
        for _ in range(self.args.steps):
            step_on(self.model, self.optimizer, self.args.device)
            self.iteration += 1
        print("iteration", self.iteration)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--map-location")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "last.pth")
        save(path, args.device)
        Session(args, path).run()


if __name__ == "__main__":
    main()
