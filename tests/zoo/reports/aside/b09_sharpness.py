"""Looks at the loss surface's sharpness while it trains: every sixth step a copy of the network gets the Rayleigh
quotient of the Hessian for a random direction, on a batch of its own, so that the training's gradients stay as they
are.

leaky: by loss.backward(create_graph=True), after which parameter and gradient hold each other, in C++, where Python's
collector can't see it; the copy never goes.
fixed: by torch.autograd.grad(create_graph=True).

usage: b09_sharpness.py leaky|fixed [--steps N]"""
import copy
import sys
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore", message="Using backward")
IN, CLASSES, BATCH = 128, 8, 32


def rayleigh(net, x, y, functional):
    probe = copy.deepcopy(net)  # LEAK
    weights = list(probe.parameters())
    loss = F.cross_entropy(probe(x), y)
    if functional:
        grads = torch.autograd.grad(loss, weights, create_graph=True)
    else:
        loss.backward(create_graph=True)  # HELD
        grads = [w.grad for w in weights]
    v = [torch.randn_like(w) for w in weights]
    hv = torch.autograd.grad(sum((g * d).sum() for g, d in zip(grads, v)), weights)
    return sum(float((h * d).sum()) for h, d in zip(hv, v)) / sum(float(d.pow(2).sum()) for d in v)


def batch(g, centres):
    y = torch.randint(CLASSES, (BATCH,), generator=g)
    return centres[y] + 2 * torch.randn(BATCH, IN, generator=g), y


def main(variant, steps):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    g = torch.Generator().manual_seed(0)
    centres = torch.randn(CLASSES, IN, generator=g)
    net = nn.Sequential(nn.Linear(IN, 256), nn.Tanh(), nn.Linear(256, 224), nn.Tanh(), nn.Linear(224, CLASSES))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    sharpest = 0.0
    for step in range(steps):
        x, y = batch(g, centres)
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 6 == 5:
            sharpest = max(sharpest, rayleigh(net, *batch(g, centres), functional=variant == "fixed"))
    print("steps %d, loss %.4f, sharpest %.5f" % (steps, loss.item(), sharpest))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[3]) if "--steps" in sys.argv else 540)
