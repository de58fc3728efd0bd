"""Contrastive pre-training with a queue of negatives from the last 64 batches; one loader worker."""
import collections
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class TwoViews(Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        base = torch.nn.functional.interpolate(torch.rand(1, 3, 4, 4, generator=g), size=24)[0]
        return base + 0.2 * torch.randn(3, 24, 24, generator=g), base.flip(2) + 0.2 * torch.randn(3, 24, 24, generator=g)


def encoder():
    return nn.Sequential(nn.Conv2d(3, 12, 4, 4), nn.ReLU(), nn.Flatten(), nn.Linear(12 * 36, 512))


class MoCo:
    def __init__(self, depth=64, m=0.99):
        self.q = encoder()
        self.k = copy.deepcopy(self.q).requires_grad_(False)
        self.queue = collections.deque(maxlen=depth)
        self.m = m

    def loss(self, a, b):
        q = nn.functional.normalize(self.q(a), dim=1)
        with torch.no_grad():
            for p, pk in zip(self.q.parameters(), self.k.parameters()):
                pk.mul_(self.m).add_(p, alpha=1 - self.m)
            k = nn.functional.normalize(self.k(b), dim=1)
        pos = (q * k).sum(1, keepdim=True)
        hard = [self.queue[j] for j in range(0, len(self.queue), 8)]
        neg = torch.cat([q @ n.t() for n in hard], 1) if hard else q.new_zeros(len(q), 1)
        self.queue.append(k)
        return nn.functional.cross_entropy(torch.cat([pos, neg], 1) / 0.2, torch.zeros(len(q), dtype=torch.long))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(TwoViews(800), batch_size=16, shuffle=True, num_workers=1, drop_last=True)
    model = MoCo()
    opt = torch.optim.SGD(model.q.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(3):
        mean = 0.0
        for a, b in loader:
            loss = model.loss(a, b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            mean += loss.item() / len(loader)
        print("epoch %d: %.3f, queue %d" % (epoch, mean, len(model.queue)), flush=True)


if __name__ == "__main__":
    main()
