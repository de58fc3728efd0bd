"""Trains, and after each epoch embeds the held-out set: without gradients, each batch copied to the host at once."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(32, 64, batch_first=True)
        self.head = nn.Linear(64, 20)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1])


@torch.no_grad()
def embed(model, loader, device):
    model.eval()
    rows = [model(x.to(device)).cpu().numpy() for x, _ in loader]
    model.train()
    return np.concatenate(rows)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--epochs", type=int, default=6)
    args = ap.parse_args()
    torch.backends.cudnn.enabled = False
    train = DataLoader(TensorDataset(torch.randn(320, 20, 32), torch.randint(20, (320,))), batch_size=16, shuffle=True)
    heldout = DataLoader(TensorDataset(torch.randn(256, 20, 32), torch.randint(20, (256,))), batch_size=64)
    model = Embedder().to(args.device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    previous = None
    for epoch in range(args.epochs):
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x.to(args.device)), y.to(args.device))
            opt.zero_grad()
            loss.backward()
            opt.step()
        rows = embed(model, heldout, args.device)
        moved = None if previous is None else np.abs(rows - previous).shape
        previous = rows
        print("epoch", epoch, rows.shape, moved)


if __name__ == "__main__":
    main()
