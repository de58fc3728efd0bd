"""A classifier with an exponential moving average from the start and stochastic weight averaging from 60 % of the run
on: one copy of the model each, averaged in place, with the batch norms of the averaged model estimated at the end.

usage: healthy_averaging.py [--epochs N]"""
import argparse
import copy

import torch
import torch.nn.functional as F
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

FEATURES, WIDTH, CLASSES, BATCH = 40, 512, 5, 32


class Ema:
    """Weights that follow those of a model slowly."""

    def __init__(self, net, decay=0.98):
        self.decay, self.net = decay, copy.deepcopy(net).requires_grad_(False).eval()

    @torch.no_grad()
    def update(self, net):
        for mine, new in zip(self.net.state_dict().values(), net.state_dict().values()):
            if mine.dtype.is_floating_point:
                mine.mul_(self.decay).add_(new, alpha=1 - self.decay)
            else:
                mine.copy_(new)


def spirals(n):
    label = torch.randint(0, CLASSES, (n,))
    radius = torch.rand(n)
    angle = 5 * radius + 2 * 3.14159 / CLASSES * label + 0.15 * torch.randn(n)
    flat = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], 1)
    return flat @ torch.randn(2, FEATURES, generator=torch.Generator().manual_seed(1)), label


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    right = (net(x).argmax(1) == y).float().mean().item()
    net.train()
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train = DataLoader(TensorDataset(*spirals(1600)), batch_size=BATCH, shuffle=True)
    held_out = spirals(400)
    net = torch.nn.Sequential(torch.nn.Linear(FEATURES, WIDTH), torch.nn.BatchNorm1d(WIDTH), torch.nn.ReLU(),
                              torch.nn.Linear(WIDTH, WIDTH), torch.nn.BatchNorm1d(WIDTH), torch.nn.ReLU(),
                              torch.nn.Linear(WIDTH, CLASSES))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    ema, swa, steps = Ema(net), None, 0
    for epoch in range(args.epochs):
        if epoch == int(0.6 * args.epochs):
            swa, schedule = AveragedModel(net), SWALR(optimizer, swa_lr=0.02, anneal_epochs=1)
        for x, y in train:
            loss = F.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update(net)
            steps += 1
            if swa is not None and steps % 10 == 0:
                swa.update_parameters(net)
        if swa is not None:
            schedule.step()
        print("epoch %d: loss %.4f, right %.3f, averaged %.3f" % (epoch + 1, loss.item(), accuracy(net, *held_out),
                                                                  accuracy(ema.net, *held_out)), flush=True)
    update_bn(train, swa)
    print("steps %d, averaged over the end %.3f" % (steps, accuracy(swa, *held_out)))


if __name__ == "__main__":
    main()
