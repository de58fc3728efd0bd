"""Body pose from features: a small regressor for joints and mesh vertices, trained and validated by a Trainer."""
import argparse

import numpy as np
import torch
import torch.nn as nn

VERTS, JOINTS, BATCH = 1200, 17, 8


def batches(n, seed):
    g = torch.Generator().manual_seed(seed)
    basis = torch.randn(12, VERTS * 3, generator=torch.Generator().manual_seed(7)) * 0.05
    for _ in range(n):
        feats = torch.randn(BATCH, 12, generator=g)
        verts = feats @ basis
        yield {"feats": feats, "verts": verts, "joints": verts[:, :JOINTS * 3].clone()}


class PoseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 12))
        self.verts = nn.Linear(12, VERTS * 3)

    def forward(self, feats):
        verts = self.verts(self.trunk(feats))  # LEAK
        return {"verts": verts, "joints": verts[:, :JOINTS * 3]}


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = PoseNet()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.accumulators = {"pred": [], "target": []}
        self.step = 0

    def train(self, epoch):
        self.model.train()
        for batch in batches(self.cfg.train_batches, 100 + epoch):
            out = self.model(batch["feats"])
            loss = (out["verts"] - batch["verts"]).abs().mean() + 2 * (out["joints"] - batch["joints"]).abs().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        for batch in batches(self.cfg.val_batches, 1):
            out = self.model(batch["feats"])
            self.accumulators["pred"].append(out["verts"].cpu().numpy().reshape(BATCH, -1, 3))  # HELD
            self.accumulators["target"].append(batch["joints"].numpy().reshape(BATCH, -1, 3))

    def evaluate(self):
        recent = self.cfg.val_batches
        errors = [np.linalg.norm(p[:, :JOINTS] - t, axis=-1).mean()
                  for p, t in zip(self.accumulators["pred"][-recent:], self.accumulators["target"][-recent:])]
        if self.cfg.clear_accumulators:
            for k in self.accumulators:
                self.accumulators[k] = []
        return float(np.mean(errors))

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.train(epoch)
            self.validate()
            mpjpe = self.evaluate()
        print("steps %d  mpjpe %.4f" % (self.step, mpjpe))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=7)
    ap.add_argument("--train-batches", type=int, default=24)
    ap.add_argument("--val-batches", type=int, default=16)
    ap.add_argument("--clear-accumulators", type=int, default=0)
    torch.manual_seed(0)
    Trainer(ap.parse_args()).fit()
