"""Segmentation with an evaluation after each epoch: the maps of the whole validation set are gathered in lists, put
together for the score, and gone when the function returns. Ten megabytes come and go once an epoch.

usage: healthy_evaluation.py [--epochs N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIDE, CLASSES, BATCH = 48, 5, 8


class Shapes(Dataset):
    """Discs of four kinds before noise."""

    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.RandomState(self.seed + i)
        v, u = np.mgrid[0:SIDE, 0:SIDE]
        labels = np.zeros((SIDE, SIDE), dtype=np.int64)
        for kind in range(1, CLASSES):
            y, x = rng.randint(8, SIDE - 8, 2)
            labels[(v - y) ** 2 + (u - x) ** 2 < 36] = kind
        image = rng.randn(2, SIDE, SIDE) * 0.3 + np.stack([labels % 2, labels / CLASSES])
        return torch.from_numpy(image.astype(np.float32)), torch.from_numpy(labels)


def confusion(predicted, labels):
    return torch.bincount(labels * CLASSES + predicted, minlength=CLASSES ** 2).view(CLASSES, CLASSES).float()


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    probabilities, targets = [], []
    for images, labels in loader:
        probabilities.append(net(images).softmax(1))
        targets.append(labels)
    probabilities, targets = torch.cat(probabilities), torch.cat(targets)
    counts = confusion(probabilities.argmax(1).flatten(), targets.flatten())
    overlap = counts.diagonal() / (counts.sum(0) + counts.sum(1) - counts.diagonal()).clamp(min=1)
    likelihood = probabilities.gather(1, targets[:, None]).clamp(min=1e-6).log().mean()
    net.train()
    return {"iou": overlap.mean().item(), "log_likelihood": likelihood.item()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(2, 12, 3, padding=1), torch.nn.ReLU(),
                              torch.nn.Conv2d(12, 12, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(12, CLASSES, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    train = DataLoader(Shapes(320, 0), batch_size=BATCH, shuffle=True)
    validation = DataLoader(Shapes(160, 10000), batch_size=16)
    history, steps = [], 0
    for epoch in range(args.epochs):
        for images, labels in train:
            loss = F.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        history.append(evaluate(net, validation))
        print("epoch %d: loss %.4f, IoU %.3f" % (epoch + 1, loss.item(), history[-1]["iou"]), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
