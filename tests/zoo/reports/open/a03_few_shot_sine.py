"""Second-order meta-learning on sinusoids: one inner step on a copy of the network, then the outer gradient."""
import argparse
import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.stateless import functional_call


def task(gen):
    amp = 0.1 + 4.9 * torch.rand(1, generator=gen)
    phase = math.pi * torch.rand(1, generator=gen)
    x = 10 * torch.rand(20, 1, generator=gen) - 5
    y = amp * torch.sin(x + phase)
    return x[:10], y[:10], x[10:], y[10:]


def mlp(width=96):
    return nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


def adapt_backward(learner, xs, ys, lr):
    loss = F.mse_loss(learner(xs), ys)
    loss.backward(create_graph=True)  # LEAK HELD
    return {n: p - lr * p.grad for n, p in learner.named_parameters()}


def adapt_grad(learner, xs, ys, lr):
    names, params = zip(*learner.named_parameters())
    grads = torch.autograd.grad(F.mse_loss(learner(xs), ys), params, create_graph=True)
    return {n: p - lr * g for n, p, g in zip(names, params, grads)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inner", choices=("backward", "grad"), default="backward")
    parser.add_argument("--iterations", type=int, default=120)
    parser.add_argument("--tasks", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    meta = mlp()
    outer = torch.optim.Adam(meta.parameters(), lr=1e-3)
    adapt = {"backward": adapt_backward, "grad": adapt_grad}[args.inner]
    running = 0.0
    for it in range(args.iterations):
        outer.zero_grad()
        for _ in range(args.tasks):
            xs, ys, xq, yq = task(gen)
            learner = copy.deepcopy(meta)  # LEAK
            fast = adapt(learner, xs, ys, 0.01)
            query = F.mse_loss(functional_call(learner, fast, (xq,)), yq)
            grads = torch.autograd.grad(query, list(learner.parameters()))
            for p, g in zip(meta.parameters(), grads):
                p.grad = g.clone() if p.grad is None else p.grad + g
            running = 0.95 * running + 0.05 * query.item()
        outer.step()
    print("iterations %d query loss %.3f" % (args.iterations, running))


if __name__ == "__main__":
    main()
