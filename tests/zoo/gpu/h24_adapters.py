"""Low-rank adapters on a frozen base whose tensors come straight from a file; adapters alone are trained."""
import os
import tempfile

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, rank=8, alpha=16):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(rank, base.in_features, device=base.weight.device) * 0.01)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank, device=base.weight.device))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.t() @ self.b.t())


def make_base():
    return nn.Sequential(*[m for _ in range(5) for m in (nn.Linear(768, 768), nn.GELU())])


def load_base(path):
    with torch.device("meta"):
        net = make_base()
    state = torch.load(path, map_location="cuda", weights_only=True)
    net.load_state_dict(state, assign=True)
    return net.requires_grad_(False)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "base.pt")
        torch.save(make_base().state_dict(), path)
        net = load_base(path)
    for i, m in enumerate(net):
        if isinstance(m, nn.Linear):
            net[i] = LoRALinear(m)
    trainable = [p for p in net.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(trainable, lr=1e-3)
    for step in range(120):
        x = torch.randn(8, 768, device="cuda")
        loss = (net(x) - x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("trained", sum(p.numel() for p in trainable))


if __name__ == "__main__":
    main()
