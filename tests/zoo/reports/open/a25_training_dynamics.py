import argparse

import numpy as np
import pandas as pd
import torch
import torch.nn as nn

# Which samples are hard? Confidence and logits of every sample are noted as the classifier is trained
# ("data maps"), and averaged over the epochs for a table at the end.

CLASSES = 32


class Classifier(nn.Module):
    def __init__(self, n_tokens=3000, dim=16):
        super().__init__()
        self.bag = nn.EmbeddingBag(n_tokens, dim, mode="mean")
        self.out = nn.Linear(dim, CLASSES)

    def forward(self, tokens):
        return self.out(torch.relu(self.bag(tokens)))


class DynamicsFrame:
    def __init__(self):
        self.frame = pd.DataFrame()

    def note(self, epoch, ids, labels, logits):
        conf = logits.softmax(1).gather(1, labels[:, None]).squeeze(1)
        rows = pd.DataFrame(logits.numpy().astype(np.float64), columns=["logit_%d" % c for c in range(CLASSES)])
        rows.insert(0, "id", ids.numpy())
        rows.insert(1, "epoch", epoch)
        rows.insert(2, "confidence", conf.numpy().astype(np.float64))
        self.frame = pd.concat([self.frame, rows], ignore_index=True)  # LEAK HELD

    def hardest(self, k):
        return self.frame.groupby("id")["confidence"].mean().nsmallest(k).index.tolist()


class DynamicsTable:
    def __init__(self, n):
        self.sum, self.count = np.zeros(n), np.zeros(n)

    def note(self, epoch, ids, labels, logits):
        conf = logits.softmax(1).gather(1, labels[:, None]).squeeze(1)
        self.sum[ids.numpy()] += conf.numpy()
        self.count[ids.numpy()] += 1

    def hardest(self, k):
        return np.argsort(self.sum / np.maximum(self.count, 1))[:k].tolist()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--samples", type=int, default=2560)
    ap.add_argument("--epochs", type=int, default=7)
    ap.add_argument("--dynamics", choices=("frame", "table"), default="frame")
    a = ap.parse_args()
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(6)
    tokens = torch.randint(3000, (a.samples, 8), generator=gen)
    labels = (tokens[:, 0] + (torch.rand(a.samples, generator=gen) < 0.1)) % CLASSES
    net = Classifier()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    dynamics = DynamicsFrame() if a.dynamics == "frame" else DynamicsTable(a.samples)
    for epoch in range(a.epochs):
        for ids in torch.randperm(a.samples, generator=gen).split(64):
            logits = net(tokens[ids])
            loss = nn.functional.cross_entropy(logits, labels[ids])
            opt.zero_grad()
            loss.backward()
            opt.step()
            dynamics.note(epoch, ids, labels[ids], logits.detach())
    print("loss %.3f, hardest %s" % (loss.item(), dynamics.hardest(5)))


if __name__ == "__main__":
    main()
