"""Sparse coding by unrolled iterations with an activation of its own. Reconstruction error is followed on held-out
data, which is never differentiated."""
import argparse

import torch
from torch import nn
from torch.autograd import Function


class SoftThreshold(Function):
    @staticmethod
    def forward(ctx, x, theta):
        out = torch.sign(x) * torch.relu(x.abs() - theta)  # LEAK
        ctx.out = out  # HELD
        return out

    @staticmethod
    def backward(ctx, grad):
        mask = (ctx.out != 0).to(grad.dtype)
        return grad * mask, -(grad * mask * torch.sign(ctx.out)).sum().view(1)


class SavedSoftThreshold(Function):
    @staticmethod
    def forward(ctx, x, theta):
        out = torch.sign(x) * torch.relu(x.abs() - theta)
        ctx.save_for_backward(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        out, = ctx.saved_tensors
        mask = (out != 0).to(grad.dtype)
        return grad * mask, -(grad * mask * torch.sign(out)).sum().view(1)


class Lista(nn.Module):
    def __init__(self, threshold, n=64, code=512, rounds=2):
        super().__init__()
        self.encode, self.inhibit = nn.Linear(n, code), nn.Linear(code, code)
        self.decode = nn.Linear(code, n)
        self.theta = nn.Parameter(torch.full((1,), 0.1))
        self.threshold, self.rounds = threshold, rounds

    def forward(self, x):
        drive = self.encode(x)
        z = self.threshold(drive, self.theta)
        for _ in range(self.rounds):
            z = self.threshold(drive + self.inhibit(z), self.theta)
        return self.decode(z)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--save-for-backward", action="store_true")
    args = parser.parse_args()
    lista = Lista((SavedSoftThreshold if args.save_for_backward else SoftThreshold).apply).to(args.device)
    opt = torch.optim.Adam(lista.parameters(), lr=1e-3)
    errors = []
    for step in range(120):
        patches = torch.randn(128, 64, device=args.device)
        loss = (lista(patches) - patches).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        heldout = torch.randn(64, 64, device=args.device)
        errors.append((lista(heldout) - heldout).pow(2).mean().item())
    print("steps", len(errors))
