"""Point cloud completion in two stages. The coarse stage is trained; the losses of both are summed for the plots."""
import argparse
from collections import defaultdict

import torch
import torch.nn as nn


class Completion(nn.Module):
    def __init__(self, points=512):
        super().__init__()
        self.points = points
        self.encode = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 128))
        self.coarse = nn.Linear(128, points * 3)
        self.refine = nn.Sequential(nn.Linear(128 + 3, 96), nn.ReLU(), nn.Linear(96, 3))

    def forward(self, cloud):
        code = self.encode(cloud).max(dim=1)[0]
        coarse = self.coarse(code).view(-1, self.points, 3)
        spread = code.detach().unsqueeze(1).expand(-1, self.points, -1)
        fine = coarse.detach() + self.refine(torch.cat([spread, coarse.detach()], dim=2))  # LEAK
        return coarse, fine


class Runner:
    def __init__(self, opt):
        self.opt = opt
        self.device = torch.device(opt.device)
        self.net = Completion().to(self.device)
        self.optim = torch.optim.Adam(self.net.parameters(), lr=1e-4)
        self.meters = defaultdict(float)

    def update(self, name, value):
        self.meters[name] = self.meters[name] + value  # HELD

    def train_step(self, partial, gt):
        coarse, fine = self.net(partial)
        loss_coarse = (coarse - gt).abs().mean()
        loss_fine = (fine - gt).pow(2).mean()  # LEAK
        self.optim.zero_grad()
        loss_coarse.backward()
        self.optim.step()
        if self.opt.values:
            self.update("coarse", loss_coarse.item())
            self.update("fine", loss_fine.item())
        else:
            self.update("coarse", loss_coarse)
            self.update("fine", loss_fine)

    def run(self):
        for it in range(self.opt.iters):
            partial = torch.rand(4, 256, 3, device=self.device)
            gt = torch.rand(4, 512, 3, device=self.device)
            self.train_step(partial, gt)
        print("iterations", self.opt.iters, "meters", sorted(self.meters))


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="cuda")
    p.add_argument("--iters", type=int, default=120)
    p.add_argument("--values", action="store_true")
    Runner(p.parse_args()).run()
