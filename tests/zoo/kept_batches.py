"""Image classification whose trainer keeps every batch that it gets from two workers, for a later look at the
hard ones. Batches come through shared memory, and a kept batch keeps its shared map (and a file descriptor):
/dev/shm fills up by the step (pytorch#17499; "bus error", "too many open files"). The fix keeps small
clones of the sixteen hardest images and their losses.

usage: kept_batches.py [leaky|fixed] [--epochs N]"""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIDE = 40
CLASSES = 8
BATCH = 16


class Stripes(Dataset):
    """Stripes whose width is the class, with noise."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        label = i % CLASSES
        wave = np.sin(np.arange(SIDE) * (label + 1) * np.pi / SIDE + rng.rand() * 6).astype(np.float32)
        image = rng.normal(0, 0.4, (3, SIDE, SIDE)).astype(np.float32) + wave
        return torch.from_numpy(image), label


class HardExamples(object):
    """What was seen with what loss, so that the worst can be looked at after training."""

    def __init__(self, variant):
        self.variant = variant
        self.seen = []

    def update(self, images, labels, losses):
        if self.variant == "leaky":
            self.seen.append((images, labels, losses.tolist()))
        else:
            worst = int(losses.argmax())
            self.seen.append((images[worst, :, ::4, ::4].clone(), labels[worst].item(), losses[worst].item()))
            self.seen = sorted(self.seen, key=lambda example: -example[2])[:16]

    def worst(self):
        return max(max(losses) if isinstance(losses, list) else losses for _, _, losses in self.seen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Stripes(60 * BATCH), batch_size=BATCH, shuffle=True, num_workers=2)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(8 * 20 * 20, CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    hard, steps = HardExamples(args.variant), 0
    for epoch in range(args.epochs):
        for images, labels in loader:  # LEAK
            losses = F.cross_entropy(net(images), labels, reduction="none")
            optimizer.zero_grad()
            losses.mean().backward()
            optimizer.step()
            hard.update(images, labels, losses.detach())
            steps += 1
        print("epoch %d: loss %.4f" % (epoch + 1, losses.mean().item()), flush=True)
    print("steps %d, worst loss %.3f" % (steps, hard.worst()))


if __name__ == "__main__":
    main()
