"""Unpaired translation with a pool of a hundred earlier fakes, from which the discriminator learns."""
import argparse
import random

import torch
from torch import nn

torch.backends.cudnn.enabled = False


class ImagePool:
    def __init__(self, size, detach):
        self.size, self.detach, self.images = size, detach, []
        self.rng = random.Random(3)

    def query(self, images):
        out = []
        for image in images:
            image = (image.detach() if self.detach else image).unsqueeze(0)
            if len(self.images) < self.size:
                self.images.append(image)  # HELD
                out.append(image)
            elif self.rng.random() > 0.5:
                at = self.rng.randrange(self.size)
                out.append(self.images[at])
                self.images[at] = image  # HELD
            else:
                out.append(image)
        return torch.cat(out)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.tail = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, x):
        return torch.tanh(self.tail(torch.relu(self.head(x))))  # LEAK


def main(args):
    generator = Generator().to(args.device)
    critic = nn.Sequential(nn.Conv2d(3, 8, 4, stride=4), nn.LeakyReLU(0.2), nn.Conv2d(8, 1, 1)).to(args.device)
    opt_g = torch.optim.Adam(generator.parameters(), lr=2e-4)
    opt_d = torch.optim.Adam(critic.parameters(), lr=2e-4)
    pool = ImagePool(args.pool, args.detach)
    for step in range(args.steps):
        real = torch.rand(1, 3, 64, 64).to(args.device)
        fake = generator(real)  # LEAK
        opt_g.zero_grad()
        (critic(fake) - 1).pow(2).mean().backward()
        opt_g.step()
        old = pool.query(fake)
        opt_d.zero_grad()
        (critic(old.detach()).pow(2).mean() + (critic(real) - 1).pow(2).mean()).backward()
        opt_d.step()
    print("pool", len(pool.images))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--steps", type=int, default=400)
    ap.add_argument("--pool", type=int, default=100)
    ap.add_argument("--detach", action="store_true")
    main(ap.parse_args())
