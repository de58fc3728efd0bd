#!/usr/bin/env python
# fine-tunes a tagger; metrics over an epoch are computed from all logits of the epoch
import argparse

import torch


class Tagger(torch.nn.Module):
    def __init__(self, width=192, tags=600):
        super().__init__()
        self.inp = torch.nn.Linear(64, width)
        self.out = torch.nn.Linear(width, tags)

    def forward(self, x):
        return self.out(torch.tanh(self.inp(x)))  # LEAK


class EpochMetrics:
    def __init__(self, to_host):
        self.to_host = to_host
        self.reset()

    def reset(self):
        self.logits = []
        self.labels = []

    def update(self, logits, labels):
        logits = logits.detach()
        if self.to_host:
            logits = logits.argmax(-1).cpu()
        self.logits.append(logits)  # HELD
        self.labels.append(labels)

    def compute(self):
        n = sum(len(l) for l in self.logits)
        self.reset()
        return n


def evaluate(model, batches, metrics, device):
    model.eval()
    with torch.no_grad():
        for x, y in batches:
            metrics.update(model(x.to(device)), y)
    model.train()
    return metrics.compute()


def run(args):
    device = torch.device("cuda", 0)
    model = Tagger().to(device)
    optim = torch.optim.SGD(model.parameters(), lr=0.1)
    train = [(torch.randn(32, 16, 64), torch.randint(0, 600, (32, 16))) for _ in range(25)]
    dev = [(torch.randn(64, 16, 64), torch.randint(0, 600, (64, 16))) for _ in range(20)]
    metrics = EpochMetrics(args.to_host)
    for epoch in range(args.epochs):
        for x, y in train:
            optim.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x.to(device)).flatten(0, 1), y.to(device).flatten())
            loss.backward()
            optim.step()
        print(epoch, evaluate(model, dev, metrics, device))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--to-host", action="store_true")
    run(p.parse_args())
