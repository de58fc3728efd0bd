"""Differentiable texturing: textures are sampled by few steps each, and the last forty used lie on the device."""
import argparse
import random
from collections import OrderedDict

import torch
from torch import nn


class TextureCache:
    def __init__(self, capacity, device):
        self.capacity, self.device = capacity, device
        self.entries = OrderedDict()

    def load(self, name):
        return torch.full((3, 128, 128), float(name))

    def get(self, name):
        if name in self.entries:
            self.entries.move_to_end(name)
            return self.entries[name]
        while len(self.entries) >= self.capacity:
            self.entries.popitem(last=False)
        texture = self.entries[name] = self.load(name).to(self.device)
        return texture


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--steps", type=int, default=200)
    a = ap.parse_args()
    rng = random.Random(0)
    cache = TextureCache(40, a.device)
    net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 3)).to(a.device)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(a.steps):
        texture = cache.get(rng.randrange(300))
        texels = texture.view(3, -1).t()
        loss = (net(texels) - texels).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("steps", a.steps, "textures on the device", len(cache.entries))


if __name__ == "__main__":
    main()
