"""A learning-rate finder before training, as fastai and Lightning have it: twice a model and an optimizer are made, run
over rising learning rates and dropped, once with a small and once with a large batch; the third model is trained.

usage: healthy_lr_finder.py [--epochs N]"""
import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

FEATURES, WIDTH, CLASSES = 32, 480, 4


def make():
    net = torch.nn.Sequential(torch.nn.Linear(FEATURES, WIDTH), torch.nn.LayerNorm(WIDTH), torch.nn.ReLU(),
                              torch.nn.Linear(WIDTH, WIDTH), torch.nn.LayerNorm(WIDTH), torch.nn.ReLU(),
                              torch.nn.Linear(WIDTH, CLASSES))
    return net, torch.optim.Adam(net.parameters(), lr=1e-6)


def checkers(n):
    x = torch.rand(n, 2) * 4
    y = (x.long().sum(1) % 2) + 2 * (x[:, 0] > 2).long()
    return TensorDataset((x - 2) @ torch.randn(2, FEATURES, generator=torch.Generator().manual_seed(1)), y)


def take_step(net, optimizer, x, y):
    loss = F.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def find_lr(data, batch, tries=60, low=1e-6, high=1e-1):
    """The rate at which the smoothed loss falls fastest."""
    net, optimizer = make()
    batches = iter(DataLoader(data, batch_size=batch, shuffle=True))
    smooth, losses, rates = None, [], []
    for i in range(tries):
        rates.append(low * (high / low) ** (i / (tries - 1)))
        optimizer.param_groups[0]["lr"] = rates[-1]
        loss = take_step(net, optimizer, *next(batches))
        smooth = loss if smooth is None else 0.8 * smooth + 0.2 * loss
        losses.append(smooth)
        if smooth > 4 * min(losses):
            break
    slopes = [b - a for a, b in zip(losses, losses[1:])]
    return rates[slopes.index(min(slopes))], len(losses)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data, steps, found = checkers(1920), 0, []
    for batch in (8, 32):
        rate, taken = find_lr(data, batch)
        found.append(rate)
        steps += taken
        print("batches of %d: learning rate %.2g" % (batch, rate), flush=True)
    net, optimizer = make()
    optimizer.param_groups[0]["lr"] = min(found[-1], 3e-3)
    for epoch in range(args.epochs):
        for x, y in DataLoader(data, batch_size=32, shuffle=True):
            loss = take_step(net, optimizer, x, y)
            steps += 1
        print("epoch %d: loss %.4f" % (epoch + 1, loss), flush=True)
    print("steps %d" % steps)


if __name__ == "__main__":
    main()
