"""A spring model is fitted with L-BFGS, which remembers the last hundred differences of parameters and of gradients:
two vectors of the model's size a step, until it has a hundred of each, and then the oldest go. Growth over the first
hundred steps, in the optimizer, that was asked for by history_size.

usage: healthy_lbfgs.py [--steps N]"""
import argparse

import torch

POINTS, WIDTH = 256, 96


def make():
    return torch.nn.Sequential(torch.nn.Linear(1, WIDTH), torch.nn.Tanh(), torch.nn.Linear(WIDTH, WIDTH),
                               torch.nn.Tanh(), torch.nn.Linear(WIDTH, 1))


def residual(net, t):
    """How far the net is from x'' + 0.4 x' + 4 x = 0 with x(0) = 1, x'(0) = 0."""
    x = net(t)
    speed, = torch.autograd.grad(x.sum(), t, create_graph=True)
    acceleration, = torch.autograd.grad(speed.sum(), t, create_graph=True)
    start = (x[0] - 1).square() + speed[0].square()
    return (acceleration + 0.4 * speed + 4 * x).square().mean() + 10 * start.sum()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=220)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = make()
    optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=1, history_size=100)
    t = torch.linspace(0, 4, POINTS)[:, None].requires_grad_()

    def closure():
        optimizer.zero_grad()
        loss = residual(net, t)
        loss.backward()
        return loss

    for step in range(1, args.steps + 1):
        loss = optimizer.step(closure)
        if step % 40 == 0:
            print("step %d: residual %.5f" % (step, loss.item()), flush=True)
    print("steps %d" % args.steps)


if __name__ == "__main__":
    main()
