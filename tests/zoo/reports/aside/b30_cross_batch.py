"""Metric learning with a cross-batch memory: from the third epoch on embeddings and feature maps of past batches are
kept in a deque and serve as further negatives. It begins late, fills for an epoch and a half and is full.

usage: b30_cross_batch.py [--epochs N]"""
import argparse
import collections

import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES, BATCH, PER_EPOCH, LATEST = 30, 24, 50, 75


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU())
        self.head = nn.Linear(32 * 16, 64)

    def forward(self, x):
        maps = self.body(x)
        return F.normalize(self.head(F.adaptive_avg_pool2d(maps, 4).flatten(1)), dim=1), maps


def contrast(z, y, others, labels):
    similarity = z @ others.T
    same = y[:, None] == labels[None]
    return (F.relu(0.9 - similarity) * same).mean() * 5 + (F.relu(similarity - 0.3) * ~same).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, memory = Embedder(), collections.deque(maxlen=LATEST)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    prototypes = torch.rand(CLASSES, 3, 40, 40)
    for epoch in range(args.epochs):
        for _ in range(PER_EPOCH):
            y = torch.randint(CLASSES, (BATCH,))
            z, maps = net(prototypes[y] + 0.4 * torch.randn(BATCH, 3, 40, 40))
            loss = contrast(z, y, z.detach(), y)
            if epoch >= 2:
                if memory:
                    keys, labels, old = zip(*memory)
                    loss = loss + contrast(z, y, torch.cat(keys), torch.cat(labels))
                    loss = loss + 0.01 * (maps.mean((0, 2, 3)) - torch.stack([o.mean((0, 2, 3)) for o in old[-8:]]).mean(0)).pow(2).sum()
                memory.append((z.detach(), y, maps.detach()))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("epochs %d, loss %.4f, memory %d" % (args.epochs, loss.item(), len(memory)))


if __name__ == "__main__":
    main()
