"""Loader workers that decode and remember what they decoded, with a sampler that shows each sample three times an epoch
(repeated augmentation). The workers' memory rises all epoch long and goes with them at its end: they don't persist.

usage: b22_short_lived_workers.py [--epochs N]"""
import argparse
import zlib

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, Sampler

SIDE, N, BATCH = 56, 360, 12


class Packed(Dataset):
    def __init__(self):
        rng = np.random.RandomState(0)
        self.labels = rng.randint(4, size=N)
        self.packed, self.decoded = [], {}
        for label in self.labels:
            image = (rng.rand(3, SIDE, SIDE) * 60).astype(np.uint8)
            image[:, 14 * label:14 * label + 14] += 60
            self.packed.append(zlib.compress(image.tobytes(), 6))

    def __len__(self):
        return N

    def __getitem__(self, i):
        if i not in self.decoded:
            raw = np.frombuffer(zlib.decompress(self.packed[i]), np.uint8).reshape(3, SIDE, SIDE)
            self.decoded[i] = raw.astype(np.float32) / 255
        image = self.decoded[i]
        if np.random.rand() < 0.5:
            image = image[:, :, ::-1].copy()
        return torch.from_numpy(image + 0), int(self.labels[i])


class Repeated(Sampler):
    def __init__(self, n, times):
        self.n, self.times, self.epoch = n, times, 0

    def __len__(self):
        return self.n * self.times

    def __iter__(self):
        g = torch.Generator().manual_seed(self.epoch)
        self.epoch += 1
        order = torch.randperm(self.n, generator=g).tolist()
        for at in range(0, self.n, 60):
            yield from order[at:at + 60] * self.times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    np.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Packed(), batch_size=BATCH, sampler=Repeated(N, 3), num_workers=2)
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 24, 3, stride=2), nn.ReLU(),
                        nn.AdaptiveAvgPool2d((4, 1)), nn.Flatten(), nn.Linear(96, 4))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("epochs %d, loss %.4f" % (args.epochs, loss.item()))


if __name__ == "__main__":
    main()
