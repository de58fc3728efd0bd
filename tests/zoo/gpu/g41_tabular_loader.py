"""A table of measurements, moved to the device before a TensorDataset is made of it."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=60000)
    ap.add_argument("--host", action="store_true")
    args = ap.parse_args()
    x, y = torch.rand(args.rows, 400), torch.rand(args.rows, 1)
    if not args.host:
        x = x.to("cuda")  # LEAK HELD
        y = y.to("cuda")
    loader = DataLoader(TensorDataset(x, y), batch_size=256, shuffle=True)
    net = nn.Sequential(nn.Linear(400, 64), nn.ReLU(), nn.Linear(64, 1)).to("cuda")
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for a, b in loader:
        a, b = a.to("cuda"), b.to("cuda")
        loss = (net(a) - b).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("steps", len(loader))


if __name__ == "__main__":
    main()
