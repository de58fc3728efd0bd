"""Pictures are decoded once and kept by the data set, to spare the decoder; crops are drawn at random. Two workers."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SIDE, CROP = 56, 40


def decode(i):
    rng = np.random.default_rng(i)
    base = rng.integers(0, 255, (SIDE // 8, SIDE // 8, 3), dtype=np.uint8)
    return np.kron(base, np.ones((8, 8, 1), dtype=np.uint8))


class Pictures(Dataset):
    def __init__(self, n, cached):
        self.n, self.cached, self.cache = n, cached, {}

    def __len__(self):
        return self.n

    def load(self, key, make):
        if key not in self.cache:
            self.cache[key] = make()  # HELD
        return self.cache[key]

    def __getitem__(self, i):
        top, left = torch.randint(SIDE - CROP, (2,)).tolist()
        flip = bool(torch.rand(()) < 0.5)

        def crop(image):
            out = image[top:top + CROP, left:left + CROP]
            out = out[:, ::-1] if flip else out
            return np.ascontiguousarray(out.transpose(2, 0, 1), dtype=np.float32) / 255  # LEAK

        if self.cached == "samples":
            x = self.load((i, top, left, flip), lambda: crop(decode(i)))
        else:
            x = crop(self.load(i, lambda: decode(i)))
        return torch.from_numpy(x), i % 4


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cached", choices=("samples", "pictures"), default="samples")
    ap.add_argument("--epochs", type=int, default=6)
    args = ap.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(Pictures(320, args.cached), batch_size=16, shuffle=True, num_workers=2, persistent_workers=True)
    net = nn.Sequential(nn.Conv2d(3, 8, 5, stride=2), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(64, 4))
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    steps = 0
    for epoch in range(args.epochs):
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            steps += 1
    print("steps %d loss %.3f" % (steps, loss.item()))


if __name__ == "__main__":
    main()
