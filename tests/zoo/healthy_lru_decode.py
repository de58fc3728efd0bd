"""Photographs decoded through an lru_cache that holds fewer than there are: it is full after five eighths of
the first epoch and evicts from then on. What it costs was chosen: maxsize times a photograph, whatever the epochs.

usage: healthy_lru_decode.py [--epochs N]"""
import argparse
import functools
import os
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import DataLoader, Dataset

N_PHOTOGRAPHS, HEIGHT, WIDTH, CLASSES, BATCH = 320, 120, 160, 4, 8


@functools.lru_cache(maxsize=200)
def decode(path):
    with Image.open(path) as photograph:
        return np.asarray(photograph.convert("RGB"))


def write_photographs(root):
    rng = np.random.RandomState(0)
    v, u = np.mgrid[0:HEIGHT, 0:WIDTH] / float(HEIGHT)
    for i in range(N_PHOTOGRAPHS):
        turn = np.pi * (i % CLASSES) / CLASSES
        wave = np.sin(25 * (u * np.cos(turn) + v * np.sin(turn)) + 6 * rng.rand())
        image = np.stack([wave * s for s in rng.rand(3)], 2)
        Image.fromarray(((image + 1) * 127).astype(np.uint8)).save(os.path.join(root, "%04d.jpg" % i))


class Photographs(Dataset):
    def __init__(self, root):
        self.paths = sorted(os.path.join(root, name) for name in os.listdir(root))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        image = decode(self.paths[i])
        top, left = np.random.randint(HEIGHT - 96), np.random.randint(WIDTH - 96)
        crop = image[top:top + 96, left:left + 96].astype(np.float32) / 255
        return torch.from_numpy(crop).permute(2, 0, 1), i % CLASSES


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    np.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 12, 5, stride=3), torch.nn.BatchNorm2d(12), torch.nn.ReLU(),
                              torch.nn.Conv2d(12, 16, 3, stride=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
                              torch.nn.Flatten(), torch.nn.Linear(16, CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    steps = 0
    with tempfile.TemporaryDirectory() as root:
        write_photographs(root)
        loader = DataLoader(Photographs(root), batch_size=BATCH, shuffle=True)
        for epoch in range(args.epochs):
            for images, labels in loader:
                loss = F.cross_entropy(net(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
            info = decode.cache_info()
            print("epoch %d: loss %.4f, %d of %d decoded" % (epoch + 1, loss.item(), info.misses,
                                                             info.misses + info.hits), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
