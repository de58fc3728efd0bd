"""A GAN whose discriminator also sees older fakes, from a pool as CycleGAN has it: it fills with generated pictures
over the first steps; later each new picture takes a random older one's place half of the time, so some stay long.

usage: healthy_image_pool.py [--epochs N]"""
import argparse
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIDE, NOISE, BATCH, POOL = 48, 16, 8, 320


class Rings(Dataset):
    def __len__(self):
        return 50 * BATCH

    def __getitem__(self, i):
        rng = np.random.RandomState(i)
        v, u = np.mgrid[-1:1:SIDE * 1j, -1:1:SIDE * 1j]
        ring = np.exp(-40 * (np.hypot(v - 0.3 * rng.randn(), u - 0.3 * rng.randn()) - 0.5) ** 2)
        return torch.from_numpy((2 * ring - 1).astype(np.float32)).expand(3, SIDE, SIDE).contiguous()


class ImagePool:
    def __init__(self, size):
        self.size, self.images = size, []

    def query(self, images):
        """As many pictures as given: these, or older ones that these take the places of."""
        out = []
        for image in images.detach():
            if len(self.images) < self.size:
                self.images.append(image.clone())
                out.append(image)
            elif random.random() < 0.5:
                k = random.randrange(self.size)
                out.append(self.images[k])
                self.images[k] = image.clone()
            else:
                out.append(image)
        return torch.stack(out)


def make_generator():
    return torch.nn.Sequential(torch.nn.Linear(NOISE, 24 * 36), torch.nn.Unflatten(1, (24, 6, 6)),
                               torch.nn.BatchNorm2d(24), torch.nn.ReLU(), torch.nn.ConvTranspose2d(24, 16, 4, 2, 1),
                               torch.nn.ReLU(), torch.nn.ConvTranspose2d(16, 8, 4, 2, 1), torch.nn.ReLU(),
                               torch.nn.ConvTranspose2d(8, 3, 4, 2, 1), torch.nn.Tanh())


def make_discriminator():
    return torch.nn.Sequential(torch.nn.Conv2d(3, 8, 4, 2, 1), torch.nn.LeakyReLU(0.2), torch.nn.Conv2d(8, 16, 4, 2, 1),
                               torch.nn.LeakyReLU(0.2), torch.nn.Conv2d(16, 1, 4, 2, 1))


def distance(scores, wanted):
    return F.mse_loss(scores, torch.full_like(scores, wanted))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    generator, discriminator, pool = make_generator(), make_discriminator(), ImagePool(POOL)
    optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
    optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=5e-4, betas=(0.5, 0.999))
    loader, steps = DataLoader(Rings(), batch_size=BATCH, shuffle=True), 0
    for epoch in range(args.epochs):
        for real in loader:
            fake = generator(torch.randn(len(real), NOISE))
            loss_g = distance(discriminator(fake), 1.0)
            optimizer_g.zero_grad()
            loss_g.backward()
            optimizer_g.step()
            loss_d = distance(discriminator(real), 1.0) + distance(discriminator(pool.query(fake)), 0.0)
            optimizer_d.zero_grad()
            loss_d.backward()
            optimizer_d.step()
            steps += 1
        print("epoch %d: generator %.3f, discriminator %.3f, %d in the pool" % (epoch + 1, loss_g.item(),
                                                                               loss_d.item(), len(pool.images)))
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
