"""A model over two devices: the encoder on the first, the decoder on the second; activations cross between them."""
import argparse

import torch
from torch import nn


class Split(nn.Module):
    def __init__(self, first, second):
        super().__init__()
        self.first, self.second = first, second
        self.encoder = nn.Sequential(nn.Linear(300, 800), nn.ReLU(), nn.Linear(800, 800), nn.ReLU()).to(first)
        self.decoder = nn.Sequential(nn.Linear(800, 800), nn.ReLU(), nn.Linear(800, 300)).to(second)

    def forward(self, x):
        return self.decoder(self.encoder(x.to(self.first)).to(self.second))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--first", default="cuda:0")
    ap.add_argument("--second", default="cuda:1")
    ap.add_argument("--steps", type=int, default=120)
    args = ap.parse_args()
    model = Split(args.first, args.second)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(args.steps):
        x = torch.randn(64, 300)
        out = model(x)
        loss = nn.functional.mse_loss(out, x.to(args.second))
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("steps", args.steps)


if __name__ == "__main__":
    main()
