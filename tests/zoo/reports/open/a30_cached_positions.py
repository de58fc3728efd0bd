"""Sinusoidal positions and relative distances are made once for each length, when it is first met."""
import math

import torch
from torch import nn


class Positions(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.d, self.tables = d, {}

    def forward(self, x):
        n = x.shape[1]
        if n not in self.tables:
            pos = torch.arange(n).float()[:, None]
            freq = torch.exp(torch.arange(0, self.d, 2).float() * (-math.log(10000.0) / self.d))
            table = torch.zeros(n, self.d)
            table[:, 0::2], table[:, 1::2] = torch.sin(pos * freq), torch.cos(pos * freq)
            distance = (pos - pos.T).abs()
            self.tables[n] = table, torch.stack([-distance * 2.0 ** -h for h in range(1, 5)])
        return self.tables[n]


class Regressor(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.pos, self.inp, self.qkv, self.out = Positions(d), nn.Linear(2, d), nn.Linear(d, 3 * d), nn.Linear(d, 1)

    def forward(self, x):
        table, bias = self.pos(x)
        h = self.inp(x) + table
        b, n, d = h.shape
        q, k, v = self.qkv(h).view(b, n, 3, 4, d // 4).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-1, -2) / (d // 4) ** 0.5 + bias).softmax(-1)
        return self.out((a @ v).transpose(1, 2).reshape(b, n, d)).mean((1, 2))


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(5)
    lengths = list(range(50, 110, 2))
    net = Regressor()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    steps = 0
    for epoch in range(5):
        for i in torch.randperm(len(lengths), generator=gen).tolist():
            x = torch.randn(3, lengths[i], 2, generator=gen)
            loss = nn.functional.mse_loss(net(x), x.prod(-1).mean(1))
            opt.zero_grad()
            loss.backward()
            opt.step()
            steps += 1
    print("steps %d loss %.4f tables %d" % (steps, loss.item(), len(net.pos.tables)))


main()
