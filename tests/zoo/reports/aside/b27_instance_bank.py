"""Instance discrimination with a bank of one vector an image, made as zeros before the training. The kernel gives the
pages when they are first written, so memory rises through the first epoch, and only through it.

usage: b27_instance_bank.py [--epochs N]"""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

N, DIM, BATCH, NEGATIVES = 10000, 512, 100, 28


class Bank:
    def __init__(self):
        self.rows = np.zeros((N, DIM), np.float32)

    def similar(self, z, idx):
        return z @ torch.from_numpy(self.rows[idx]).T

    def update(self, idx, z):
        mixed = 0.5 * self.rows[idx] + 0.5 * z.detach().numpy()
        self.rows[idx] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def images(idx):
    phase = torch.from_numpy(idx).float()[:, None]
    t = torch.arange(144)[None] / 20.0
    return (torch.sin(phase * 0.37 + t * (1 + phase % 13)) + 0.3 * torch.randn(len(idx), 144)).view(-1, 1, 12, 12)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.RandomState(0)
    net = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, DIM))
    optimizer, bank = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9), Bank()
    for epoch in range(args.epochs):
        order = rng.permutation(N // BATCH)
        for block in order:
            idx = np.arange(block * BATCH, (block + 1) * BATCH)
            seen = np.concatenate((idx, rng.choice(order[:max(1, len(order) // 8)], NEGATIVES) * BATCH))
            z = F.normalize(net(images(idx)), dim=1)
            logits = bank.similar(z, seen) / 0.07
            loss = F.cross_entropy(logits, torch.arange(BATCH))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bank.update(idx, z)
    print("epochs %d, loss %.4f" % (args.epochs, loss.item()))


if __name__ == "__main__":
    main()
