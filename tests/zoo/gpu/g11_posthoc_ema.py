from __future__ import annotations

import copy
from pathlib import Path
import sys
import tempfile

import torch
from torch import nn, Tensor
from torch.nn import Module

# a denoiser with averaged weights, several snapshots of which are combined after training


def exists(val):
    return val is not None


class EMA(Module):
    def __init__(self, model: Module, beta: float = 0.99):
        super().__init__()
        self.beta = beta
        self.ema_model = copy.deepcopy(model).requires_grad_(False)

    @torch.no_grad()
    def update(self, model: Module):
        for avg, p in zip(self.ema_model.parameters(), model.parameters()):
            avg.lerp_(p, 1. - self.beta)


class Denoiser(Module):
    def __init__(self, dim=384, depth=3):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(dim, dim * 2), nn.SiLU(), nn.Linear(dim * 2, dim))
                                     for _ in range(depth)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x) + x
        return x


class PostHocTrainer:
    def __init__(self, device, checkpoint_folder: Path | None, every=15):
        self.device = device
        self.every = every
        self.folder = checkpoint_folder
        self.model = Denoiser().to(device)
        self.ema = EMA(self.model)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=3e-4)
        self.snapshots = []

    def checkpoint(self, step):
        if exists(self.folder):
            pkg = {k: v.to(device="cpu", dtype=torch.float16, copy=True) for k, v in self.ema.state_dict().items()}
            torch.save(pkg, str(self.folder / f"0.{step}.pt"))
            return
        self.snapshots.append(copy.deepcopy(self.ema).requires_grad_(False))  # LEAK HELD

    def fit(self, steps):
        for step in range(1, steps + 1):
            x = torch.randn(32, 384, device=self.device)
            noised = x + torch.randn_like(x)
            loss = torch.nn.functional.mse_loss(self.model(noised), x)
            loss.backward()
            self.opt.step()
            self.opt.zero_grad()
            self.ema.update(self.model)
            if step % self.every == 0:
                self.checkpoint(step)


if __name__ == "__main__":
    to_disk = "disk" in sys.argv[1:]
    device = "cpu" if "cpu" in sys.argv[1:] else "cuda"
    with tempfile.TemporaryDirectory() as folder:
        PostHocTrainer(device, Path(folder) if to_disk else None).fit(180)
