"""A mixture of experts whose router knows the domain. Domains join one after another; an expert's gradients and Adam
moments are made when its first domain comes. All are there after 60 % of the steps.

usage: b28_late_experts.py [--steps N]"""
import argparse

import torch
import torch.nn as nn

EXPERTS, DIM, WIDTH, BATCH = 20, 96, 256, 24


class Mixture(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.Linear(32, DIM)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(DIM, WIDTH), nn.GELU(), nn.Linear(WIDTH, DIM))
                                      for _ in range(EXPERTS)])
        self.head = nn.Linear(DIM, 4)

    def forward(self, x, domain):
        h = self.inward(x)
        out = torch.zeros_like(h)
        for k in domain.unique().tolist():
            at = (domain == k).nonzero()[:, 0]
            out = out.index_add(0, at, self.experts[k](h[at]))
        return self.head(h + out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=480)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = Mixture()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    turns = torch.randn(EXPERTS, 32, 4)
    for step in range(args.steps):
        known = min(EXPERTS, 2 + EXPERTS * step * 5 // (args.steps * 3))
        domain = torch.randint(known, (BATCH,))
        x = torch.randn(BATCH, 32)
        y = torch.einsum("bi,bij->bj", x, turns[domain]).argmax(1)
        loss = nn.functional.cross_entropy(net(x, domain), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    print("steps %d, loss %.4f, states %d" % (args.steps, loss.item(), len(optimizer.state)))


if __name__ == "__main__":
    main()
