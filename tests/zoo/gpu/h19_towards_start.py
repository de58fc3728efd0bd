"""Fine-tunes with L2-SP and EWC: the weights that were loaded, and their Fisher information, pull in each step."""
import os
import tempfile

import torch
from torch import nn


def backbone():
    return nn.Sequential(nn.Linear(600, 900), nn.ReLU(), nn.Linear(900, 900), nn.ReLU(), nn.Linear(900, 300))


def main(steps=100):
    with tempfile.TemporaryDirectory() as tmp:
        file = os.path.join(tmp, "pretrained.pth")
        torch.save(backbone().cuda().state_dict(), file)
        pretrained = torch.load(file, map_location="cuda", weights_only=True)
    model = backbone().cuda()
    model.load_state_dict(pretrained)
    fisher = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
    for _ in range(5):
        model.zero_grad()
        model(torch.randn(16, 600, device="cuda")).pow(2).mean().backward()
        for n, p in model.named_parameters():
            fisher[n] += p.grad.detach() ** 2 / 5
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    for step in range(steps):
        x = torch.randn(32, 600, device="cuda")
        loss = model(x).pow(2).mean()
        penalty = 0.0
        for n, p in model.named_parameters():
            penalty = penalty + (fisher[n] * (p - pretrained[n]) ** 2).sum()
        optimizer.zero_grad()
        (loss + 0.1 * penalty).backward()
        optimizer.step()
    print("steps", steps)


if __name__ == "__main__":
    main()
