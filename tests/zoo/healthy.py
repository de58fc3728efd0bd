"""A job with nothing wrong: warm-up, validation, a schedule, checkpoints in memory and on disk, a bounded
log. Whatever it says to have found here is a false accusation.

usage: healthy.py [--epochs N] [--workers N] [--optimizer sgd|adam|adamw]"""
import argparse
import collections
import io
import os
import tempfile

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    """Made anew at each access: the data set keeps nothing."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        label = i % 10
        image = rng.rand(1, 28, 28).astype(np.float32)
        image[0, label:label + 10, label:label + 10] += 1
        return torch.from_numpy(image), label


def evaluate(net, loader):
    net.eval()
    right = n = 0
    with torch.no_grad():
        for images, labels in loader:
            right += int((net(images).argmax(1) == labels).sum())
            n += len(labels)
    net.train()
    return right / n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--optimizer", default="adam", choices=("sgd", "adam", "adamw"))
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
                              torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Dropout(0.2),
                              torch.nn.Linear(8 * 13 * 13, 10))
    make = {"sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9), "adam": lambda p: torch.optim.Adam(p, lr=1e-3),
            "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3)}[args.optimizer]
    optimizer = make(net.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, epochs=args.epochs, steps_per_epoch=50)
    train = DataLoader(Digits(800), batch_size=16, shuffle=True, num_workers=args.workers)
    check = DataLoader(Digits(160), batch_size=16, num_workers=args.workers)
    recent = collections.deque(maxlen=100)
    steps = 0
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(args.epochs):
            for images, labels in train:
                optimizer.zero_grad(set_to_none=True)
                loss = torch.nn.functional.cross_entropy(net(images), labels)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                recent.append(loss.item())
                steps += 1
            state = {"net": net.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(state, os.path.join(folder, "last.pt"))
            buffer = io.BytesIO()
            torch.save(state, buffer)
            del state, buffer
            print("epoch %d: %.3f right" % (epoch + 1, evaluate(net, check)), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
