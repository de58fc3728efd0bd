"""Image classification whose data set decodes with functools.lru_cache(maxsize=None) over the method, "so that
epoch 2 is faster": every image comes to stay as floats after its first use, for the whole run. Memory climbs
through the first epoch and stays there (nerfstudio#2971's image cache; any "cache in __getitem__"). The fix
gives the cache a size.

usage: lru_cached_decode.py [leaky|fixed] [--epochs N] [--images N]"""
import argparse
import functools
import os
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import DataLoader, Dataset

SIDE = 80
CLASSES = 4
BATCH = 8
COLOURS = ((180, 0, 0), (0, 180, 0), (0, 0, 180), (180, 180, 0))


def write_photographs(folder, n):
    """JPEG files of a coloured square on a dark ground; the name says which colour."""
    rng = np.random.RandomState(0)
    for i in range(n):
        label = i % CLASSES
        pixels = rng.randint(0, 60, (SIDE, SIDE, 3)).astype(np.uint8)
        x, y = rng.randint(0, SIDE - 30, 2)
        pixels[y:y + 30, x:x + 30] += np.array(COLOURS[label], np.uint8)
        Image.fromarray(pixels).save(os.path.join(folder, "%05d_%d.jpg" % (i, label)), quality=90)


class Photographs(Dataset):
    def __init__(self, folder):
        self.paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]

    def __len__(self):
        return len(self.paths)

    def decode(self, i):
        with Image.open(self.paths[i]) as image:
            return np.asarray(image).astype(np.float32)  # LEAK

    def __getitem__(self, i):
        label = int(self.paths[i][-5])
        pixels = torch.from_numpy(self.decode(i)).permute(2, 0, 1) / 255
        return pixels, label


class CachedPhotographs(Photographs):
    @functools.lru_cache(maxsize=None)
    def decode(self, i):
        return super().decode(i)


class BoundedPhotographs(Photographs):
    @functools.lru_cache(maxsize=16)
    def decode(self, i):
        return super().decode(i)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--images", type=int, default=400)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 5, stride=4), torch.nn.ReLU(), torch.nn.AdaptiveMaxPool2d(4),
                              torch.nn.Flatten(), torch.nn.Linear(128, CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    steps = 0
    with tempfile.TemporaryDirectory() as folder:
        write_photographs(folder, args.images)
        data = (CachedPhotographs if args.variant == "leaky" else BoundedPhotographs)(folder)
        loader = DataLoader(data, batch_size=BATCH, shuffle=True)
        for epoch in range(args.epochs):
            for images, labels in loader:
                loss = F.cross_entropy(net(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
            print("epoch %d: loss %.4f" % (epoch + 1, loss.item()), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
