"""A diffusion model that shows its samples: every few steps a sample is drawn, and each frame of it kept for a film."""
import argparse

import torch
from torch import nn


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.SiLU()]
    return nn.Sequential(*layers[:-1])


class Diffusion:
    def __init__(self, net, steps=10):
        self.net = net
        self.steps = steps
        self.films = []

    def p_losses(self, x0):
        t = torch.rand(x0.shape[0], 1, device=x0.device)
        noise = torch.randn_like(x0)
        return (self.net(torch.cat([x0 * (1 - t) + noise * t, t], 1)) - noise).pow(2).mean()

    def p_sample_loop(self, n, dim, device, grad):
        frames = []
        with torch.set_grad_enabled(grad):
            x = torch.randn(n, dim, device=device)
            for i in reversed(range(self.steps)):
                t = torch.full((n, 1), i / self.steps, device=device)
                eps = self.net(torch.cat([x, t], 1))  # LEAK
                x = x - eps / self.steps  # LEAK
                frames.append(x if grad else x.cpu())  # HELD
        return frames


def train(args):
    device = "cuda"
    diffusion = Diffusion(mlp(257, 512, 512, 256).to(device))
    opt = torch.optim.Adam(diffusion.net.parameters(), 1e-4, betas=(0.9, 0.99))
    for step in range(1, args.train_steps + 1):
        for _ in range(2):  # gradient accumulation
            (diffusion.p_losses(torch.randn(64, 256, device=device)) / 2).backward()
        opt.step()
        opt.zero_grad()
        if step % args.sample_every == 0:
            film = diffusion.p_sample_loop(16, 256, device, not args.no_grad)
            diffusion.films = [film] if args.no_grad else diffusion.films + [film]  # HELD


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--train-steps", type=int, default=150)
    ap.add_argument("--sample-every", type=int, default=10)
    ap.add_argument("--no-grad", action="store_true")
    train(ap.parse_args())
