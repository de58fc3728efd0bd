"""Retrieval with two towers; a ranking metric in the manner of torchmetrics follows training."""
import argparse

import torch
from torch import nn


class Metric(nn.Module):
    def __init__(self):
        super().__init__()
        self._defaults = {}

    def add_state(self, name, default):
        self._defaults[name] = default
        setattr(self, name, [])

    def reset(self):
        for name in self._defaults:
            getattr(self, name).clear()

    def forward(self, *args):
        self.update(*args)
        return self.batch_value(*args)


class RetrievalMRR(Metric):
    def __init__(self):
        super().__init__()
        for state in ("indexes", "preds", "target"):
            self.add_state(state, [])

    def update(self, preds, target, indexes):
        self.preds.append(preds.detach().flatten().float())  # HELD
        self.target.append(target.flatten())  # HELD
        self.indexes.append(indexes.flatten())  # LEAK HELD

    def batch_value(self, preds, target, indexes):
        rank = (preds.detach() >= preds.detach().diagonal().unsqueeze(1)).sum(1)
        return (1.0 / rank.float()).mean()


class Towers(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.query, self.doc = nn.Linear(100, dim), nn.Linear(100, dim)

    def forward(self, q, d):
        return self.query(q) @ self.doc(d).t()  # LEAK


class Module:
    def __init__(self, device):
        self.device = device
        self.model = Towers().to(device)
        self.train_mrr = RetrievalMRR().to(device)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def training_step(self, n):
        q, d = torch.randn(n, 100, device=self.device), torch.randn(n, 100, device=self.device)
        logits = self.model(q, d)
        rows = torch.arange(n, device=self.device)
        target = torch.eye(n, device=self.device)  # LEAK
        mrr = self.train_mrr(logits, target, rows.unsqueeze(1).expand(n, n))
        loss = nn.functional.cross_entropy(logits, rows)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return mrr


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="cuda")
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--reset", action="store_true")
    args = p.parse_args()
    module = Module(args.device)
    for epoch in range(args.epochs):
        for step in range(30):
            module.training_step(256)
        if args.reset:
            module.train_mrr.reset()
        print("epoch", epoch, "states", len(module.train_mrr.preds))
