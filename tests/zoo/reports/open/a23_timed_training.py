"""A dilated network on waveforms, with the autograd profiler around the training to see which operators cost most."""
import argparse

import torch
from torch import nn


class WaveBlock(nn.Module):
    def __init__(self, c, dilation):
        super().__init__()
        self.conv = nn.Conv1d(c, 2 * c, 3, padding=dilation, dilation=dilation)
        self.mix = nn.Conv1d(c, c, 1)

    def forward(self, x):
        a, b = self.conv(x).chunk(2, 1)
        return x + self.mix(torch.tanh(a) * torch.sigmoid(b))


class WaveNet(nn.Module):
    def __init__(self, c=12, depth=6):
        super().__init__()
        self.first = nn.Conv1d(1, c, 1)
        self.blocks = nn.ModuleList(WaveBlock(c, 2 ** (i % 4)) for i in range(depth))
        self.last = nn.Conv1d(c, 1, 1)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


def wave(gen, n=8, length=128):
    t = torch.linspace(0, 6.28, length)
    f = torch.rand(n, 1, 1, generator=gen) * 9 + 1
    clean = torch.sin(f * t)
    return clean + 0.3 * torch.randn(n, 1, length, generator=gen), clean


def train(net, opt, gen, steps):
    for _ in range(steps):
        x, y = wave(gen)
        loss = nn.functional.mse_loss(net(x), y)  # LEAK
        opt.zero_grad()
        loss.backward()  # LEAK
        opt.step()  # LEAK
    return loss.item()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=160)
    p.add_argument("--profile-steps", type=int, default=0, help="0: all of them")
    a = p.parse_args()
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    net = WaveNet()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    profiled = a.profile_steps or a.steps
    prof = torch.autograd.profiler.profile(record_shapes=True, profile_memory=True)
    prof.__enter__()  # HELD
    loss = train(net, opt, gen, profiled)
    if profiled < a.steps:
        prof.__exit__(None, None, None)
        del prof
        loss = train(net, opt, gen, a.steps - profiled)
    print("steps %d loss %.4f" % (a.steps, loss), flush=True)
