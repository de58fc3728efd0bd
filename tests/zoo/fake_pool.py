"""A translation network that learns from a pool of a hundred earlier fakes, as CycleGAN does: the pool is full after a
hundred steps, and a new fake then takes the place of a random one half of the time. Fakes of a second, longer way that
only the critic sees go in with their grad_fn, so that each keeps the activations behind it. The fix detaches them.

usage: fake_pool.py [leaky|fixed] [--steps N]"""
import argparse
import random

import torch
from torch import nn

SIDE, CHANNELS, POOL = 48, 20, 100


class ImagePool:
    def __init__(self, size):
        self.size, self.images = size, []

    def exchange(self, image):
        """This one, or an older one that it takes the place of."""
        if len(self.images) < self.size:
            self.images.append(image)
            return image
        if random.random() < 0.5:
            return image
        at = random.randrange(self.size)
        older, self.images[at] = self.images[at], image
        return older


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.tail = nn.Conv2d(1, CHANNELS, 3, padding=1), nn.Conv2d(CHANNELS, 1, 3, padding=1)

    def forward(self, x):
        return torch.tanh(self.tail(torch.relu(self.head(x))))  # LEAK


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=300)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    there, back = Translator(), Translator()
    critic = nn.Sequential(nn.Conv2d(1, 4, 4, stride=4), nn.LeakyReLU(0.2), nn.Conv2d(4, 1, 1))
    optimizer = torch.optim.Adam([*there.parameters(), *back.parameters()], lr=2e-4)
    optimizer_c = torch.optim.Adam(critic.parameters(), lr=2e-4)
    pool = ImagePool(POOL)
    for step in range(args.steps):
        real = torch.rand(1, 1, SIDE, SIDE)
        loss = (back(there(real)) - real).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        fake = there(real)
        older = pool.exchange(fake if args.variant == "leaky" else fake.detach())
        loss_c = critic(older.detach()).pow(2).mean() + (critic(real) - 1).pow(2).mean()
        optimizer_c.zero_grad()
        loss_c.backward()
        optimizer_c.step()
        if (step + 1) % 100 == 0:
            print("step %d: loss %.4f, %d in the pool" % (step + 1, loss.item(), len(pool.images)), flush=True)
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
