"""Two persistent loader workers that decode photographs and augment them, as a torchvision recipe does: random crop,
flip, brightness, erasing. Pinning is off, the workers live through all epochs, and they keep nothing.

usage: healthy_two_workers.py [--epochs N]"""
import argparse
import os
import random
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageEnhance
from torch.utils.data import DataLoader, Dataset

N_PHOTOGRAPHS, SIDE, CROP, CLASSES, BATCH = 400, 72, 56, 4, 8


def write_photographs(root):
    rng = np.random.RandomState(0)
    v, u = np.mgrid[0:SIDE, 0:SIDE] / float(SIDE)
    for i in range(N_PHOTOGRAPHS):
        turn = np.pi * (i % CLASSES) / CLASSES
        wave = np.sin(20 * (v * np.sin(turn) - u * np.cos(turn)) + 6 * rng.rand())
        image = np.stack([wave * s for s in 0.5 + 0.5 * rng.rand(3)], 2) + 0.1 * rng.randn(SIDE, SIDE, 3)
        image = Image.fromarray((image.clip(-1, 1) * 127 + 128).astype(np.uint8))
        os.makedirs(os.path.join(root, str(i % CLASSES)), exist_ok=True)
        image.save(os.path.join(root, str(i % CLASSES), "%04d.jpg" % i))


class Augment:
    def __call__(self, image):
        top, left = random.randint(0, SIDE - CROP), random.randint(0, SIDE - CROP)
        image = image.crop((left, top, left + CROP, top + CROP))
        image = ImageEnhance.Brightness(image).enhance(random.uniform(0.7, 1.3))
        pixels = torch.from_numpy(np.array(image)).permute(2, 0, 1).float().div(255)
        if random.random() < 0.5:
            y, x = random.randint(0, CROP - 12), random.randint(0, CROP - 12)
            pixels[:, y:y + 12, x:x + 12] = 0
        return pixels.sub(0.5).div(0.25)


class Folder(Dataset):
    def __init__(self, root, transform):
        self.samples = [(os.path.join(root, label, name), int(label)) for label in sorted(os.listdir(root))
                        for name in sorted(os.listdir(os.path.join(root, label)))]
        self.transform = transform

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        path, label = self.samples[i]
        with Image.open(path) as photograph:
            return self.transform(photograph.convert("RGB")), label


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 5, stride=3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(),
                              torch.nn.Conv2d(16, 24, 3, stride=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
                              torch.nn.Flatten(), torch.nn.Linear(24, CLASSES))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    steps = 0
    with tempfile.TemporaryDirectory() as root:
        write_photographs(root)
        loader = DataLoader(Folder(root, Augment()), batch_size=BATCH, shuffle=True, num_workers=2,
                            persistent_workers=True)
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
