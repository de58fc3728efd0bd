"""A field represented by particles with features; every five steps the least useful particles are moved to where the
useful ones are, and the parameter tensor is replaced in the optimizer, as densification code does it.

leaky: the optimizer's state for the old parameter stays in optimizer.state, whose key the old parameter is.
fixed: it is moved over to the new parameter.

usage: b06_particle_field.py leaky|fixed [--steps N]"""
import argparse

import torch
import torch.nn as nn

PARTICLES, FEATURES, QUERIES = 3000, 30, 96


def replace(optimizer, fresh, move):
    group = optimizer.param_groups[0]
    old = group["params"][0]
    if move:
        optimizer.state[fresh] = optimizer.state.pop(old)
    group["params"][0] = fresh  # HELD
    return fresh


def resample(field, keep):
    order = field.detach()[:, 2:].norm(dim=1).argsort(descending=True)
    best = order[:keep]
    source = best[torch.randint(keep, (len(order) - keep,))]
    moved = field.detach()[source]
    moved[:, :2] += 0.01 * torch.randn(len(moved), 2)
    return nn.Parameter(torch.cat((field.detach()[best], moved)))


def render(field, decode, at):
    near = (1 + 400 * (at[:, None] - field[None, :, :2]).pow(2).sum(2)) ** -3
    return decode(near @ field[:, 2:] / (near.sum(1, keepdim=True) + 1e-4))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=("leaky", "fixed"))
    parser.add_argument("--steps", type=int, default=160)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    field = nn.Parameter(torch.cat((torch.rand(PARTICLES, 2), 0.1 * torch.randn(PARTICLES, FEATURES)), 1))
    decode = nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam([{"params": [field]}, {"params": decode.parameters()}], lr=5e-3)
    for step in range(args.steps):
        at = torch.rand(QUERIES, 2)
        colour = torch.stack((torch.sin(9 * at[:, 0]), torch.cos(7 * at[:, 1]), at.prod(1)), 1)
        loss = (render(field, decode, at) - colour).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # LEAK
        if step % 5 == 4:
            field = replace(optimizer, resample(field, PARTICLES * 4 // 5), args.variant == "fixed")
    print("steps %d, loss %.5f" % (args.steps, loss.item()))


if __name__ == "__main__":
    main()
