"""What training scripts remember: a history of losses, learning rates and gradient norms as Python floats, for the
curve at the end; a progress line over a bounded window, as tqdm and meters have it; rows of a CSV file that is
written out as it grows. The history is some hundred bytes a step, which no run is long enough to notice.

usage: healthy_loss_history.py [--epochs N]"""
import argparse
import collections
import csv
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CLASSES, SIDE, BATCH = 6, 32, 16


class Meter:
    """Average over the last values and over all."""

    def __init__(self, window=50):
        self.recent, self.sum, self.n = collections.deque(maxlen=window), 0.0, 0

    def update(self, value):
        self.recent.append(value)
        self.sum += value
        self.n += 1

    def __str__(self):
        return "%.4f (%.4f)" % (sum(self.recent) / len(self.recent), self.sum / self.n)


class Progress:
    """An iterator that says how far it is, twice a second at most, and at the end."""

    def __init__(self, iterable, title, meters):
        self.iterable, self.title, self.meters = iterable, title, meters
        self.times, self.lines = collections.deque(maxlen=20), collections.deque(maxlen=8)
        self.printed = time.monotonic()

    def __iter__(self):
        for i, item in enumerate(self.iterable, 1):
            yield item
            self.times.append(time.monotonic())
            rate = len(self.times) / max(self.times[-1] - self.times[0], 1e-3)
            line = "%s %d/%d %.0f it/s " % (self.title, i, len(self.iterable), rate)
            self.lines.append(line + " ".join("%s %s" % pair for pair in self.meters.items()))
            if self.times[-1] - self.printed > 0.5 or i == len(self.iterable):
                self.printed = self.times[-1]
                print(self.lines[-1], flush=True)


class Textures(Dataset):
    def __len__(self):
        return 50 * BATCH

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        v, u = np.mgrid[0:SIDE, 0:SIDE] / float(SIDE)
        wave = np.sin((4 + 4 * (i % CLASSES)) * u + 6 * rng.rand()) * np.cos(5 * v)
        return torch.from_numpy((wave + 0.4 * rng.randn(3, SIDE, SIDE)).astype(np.float32)), i % CLASSES


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Textures(), batch_size=BATCH, shuffle=True)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, stride=2), torch.nn.BatchNorm2d(16), torch.nn.ReLU(),
                              torch.nn.Conv2d(16, 24, 3, stride=2), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(24 * 49, CLASSES))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs * len(loader))
    history = {"loss": [], "accuracy": [], "lr": [], "norm": []}
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "log.csv"), "w", newline="") as file:
        writer = csv.writer(file)
        for epoch in range(args.epochs):
            meters = {"loss": Meter(), "right": Meter()}
            for images, labels in Progress(loader, "epoch %d" % (epoch + 1), meters):
                logits = net(images)
                loss = F.cross_entropy(logits, labels)
                optimizer.zero_grad()
                loss.backward()
                norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
                optimizer.step()
                schedule.step()
                right = (logits.argmax(1) == labels).float().mean().item()
                row = (loss.item(), right, schedule.get_last_lr()[0], norm.item())
                for values, value in zip(history.values(), row):
                    values.append(value)
                writer.writerow(row)
                meters["loss"].update(row[0])
                meters["right"].update(right)
        file.flush()
    smooth = np.convolve(history["loss"], np.ones(20) / 20, "valid")
    print("steps %d, loss from %.4f to %.4f" % (len(history["loss"]), smooth[0], smooth[-1]))


if __name__ == "__main__":
    main()
