"""Progressive resizing: the first epochs train on small pictures, the next on larger ones, and from epoch four on the
size stays. Memory rises by stairs at the starts of epochs, with the batches and activations, and then no more.

usage: healthy_curriculum.py [--epochs N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZES, CLASSES, BATCH = (24, 40, 56, 72), 5, 16


class Pictures(Dataset):
    """One to five blobs, to be counted, at the size that training is at."""

    def __init__(self, n):
        self.n, self.size = n, SIZES[0]

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        grid = np.linspace(0, 1, self.size, dtype=np.float32)
        y, x = rng.rand(2, i % CLASSES + 1, 1)
        image = (np.exp(-200 * (grid - y) ** 2).T @ np.exp(-200 * (grid - x) ** 2)).astype(np.float32)
        return torch.from_numpy(image)[None], i % CLASSES


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Conv2d(1, 12, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                                        torch.nn.Conv2d(12, 16, 3, padding=1), torch.nn.ReLU(),
                                        torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten())
        self.head = torch.nn.Linear(16 * 16, CLASSES)

    def forward(self, images):
        return self.head(self.body(images))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data, net = Pictures(480), Counter()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    steps = 0
    for epoch in range(args.epochs):
        data.size = SIZES[min(epoch, len(SIZES) - 1)]
        for images, labels in DataLoader(data, batch_size=BATCH, shuffle=True):
            loss = F.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
        print("epoch %d: %d pixels wide, loss %.4f" % (epoch + 1, data.size, loss.item()), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
