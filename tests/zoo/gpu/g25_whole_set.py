"""Classifies aerial tiles. The whole archive is one tensor, of which a step uses sixteen tiles."""
import argparse

import torch
from torch import nn


def read_archive(tiles, side):
    return torch.rand(tiles, 3, side, side), torch.randint(0, 10, (tiles,))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=120)
    ap.add_argument("--tiles", type=int, default=2400)
    ap.add_argument("--host", action="store_true", help="only a batch goes to the device")
    args = ap.parse_args()
    tiles, labels = read_archive(args.tiles, 64)
    if not args.host:
        tiles, labels = tiles.cuda(), labels.cuda()  # LEAK HELD
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64 * 64, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    for step in range(args.steps):
        at = torch.randint(0, args.tiles, (16,))
        x, y = tiles[at.to(tiles.device)].cuda(), labels[at.to(labels.device)].cuda()
        loss = model(x).logsumexp(1).mean() + 0 * y.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("tiles", len(labels))


if __name__ == "__main__":
    main()
