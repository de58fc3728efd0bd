"""Training with an exponential average of the weights; the average is swapped in for evaluation and out again."""
import argparse

import torch
from torch import nn


class ExponentialMovingAverage:
    def __init__(self, parameters, decay, nested):
        self.decay, self.nested = decay, nested
        self.shadow = [p.detach().clone() for p in parameters]
        self.collected = []

    @torch.no_grad()
    def update(self, parameters):
        for s, p in zip(self.shadow, parameters):
            s.sub_((1 - self.decay) * (s - p))

    def store(self, parameters):
        self.collected.append([p.detach().clone() for p in parameters])  # LEAK HELD

    @torch.no_grad()
    def copy_to(self, parameters):
        for s, p in zip(self.shadow, parameters):
            p.copy_(s)

    @torch.no_grad()
    def restore(self, parameters):
        saved = self.collected.pop() if self.nested else self.collected[-1]
        for c, p in zip(saved, parameters):
            p.copy_(c)


def make(users, items, n, gen):
    u, i = torch.randint(users, (n,), generator=gen), torch.randint(items, (n,), generator=gen)
    return u, i, ((u * 31 + i * 17) % 5).float()


class Recommender(nn.Module):
    def __init__(self, users=3000, items=2000, d=32):
        super().__init__()
        self.users, self.items = nn.Embedding(users, d), nn.Embedding(items, d)
        self.bias = nn.Parameter(torch.full((1,), 2.0))

    def forward(self, u, i):
        return (self.users(u) * self.items(i)).sum(1) + self.bias


def main(args):
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(9)
    net = Recommender()
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    ema = ExponentialMovingAverage(list(net.parameters()), 0.98, args.pop)
    valid = make(3000, 2000, 2000, gen)
    for step in range(1, args.steps + 1):
        u, i, r = make(3000, 2000, 128, gen)
        loss = nn.functional.mse_loss(net(u, i), r)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(net.parameters())
        if step % args.eval_every == 0:
            ema.store(net.parameters())
            ema.copy_to(net.parameters())
            with torch.no_grad():
                rmse = nn.functional.mse_loss(net(*valid[:2]), valid[2]).sqrt().item()
            ema.restore(net.parameters())
    print("steps %d rmse %.3f" % (args.steps, rmse))


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--eval-every", type=int, default=10)
    ap.add_argument("--pop", type=int, choices=(0, 1), default=0)
    main(ap.parse_args())
