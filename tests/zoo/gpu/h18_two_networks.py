"""Twin networks for Q-learning, a frozen encoder from a state dict, and evaluation that goes to the host."""
import copy
import os
import tempfile

import torch
from torch import nn


def encoder():
    return nn.Sequential(nn.Linear(400, 600), nn.ReLU(), nn.Linear(600, 300))


def main(epochs=4, steps=40):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "encoder.pt")
        torch.save(encoder().cuda().state_dict(), path)
        frozen = encoder().cuda().requires_grad_(False)
        frozen.load_state_dict(torch.load(path, weights_only=True))
    online = encoder().cuda()
    target = copy.deepcopy(online).requires_grad_(False)
    shadow = {k: v.detach().clone() for k, v in online.state_dict().items()}
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-3)
    for epoch in range(epochs):
        for _ in range(steps):
            x = torch.randn(64, 400, device="cuda")
            y = frozen(x) + 0.1 * target(x)
            loss = (online(x) - y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for k, v in online.state_dict().items():
                shadow[k].mul_(0.99).add_(v, alpha=0.01)
        with torch.no_grad():
            outs = [online(torch.randn(64, 400, device="cuda")).cpu() for _ in range(20)]
        target.load_state_dict(online.state_dict())
        print("epoch", epoch, len(torch.cat(outs)))


if __name__ == "__main__":
    main()
