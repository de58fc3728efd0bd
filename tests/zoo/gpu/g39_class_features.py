"""Contrastive learning that remembers features by class, on the device, for hard negatives."""
import argparse
import collections

import torch
from torch import nn


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--most", type=int)
    args = ap.parse_args()
    net = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512)).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    memory = collections.defaultdict(lambda: collections.deque(maxlen=args.most))
    for step in range(args.steps):
        x = torch.randn(32, 128, device="cuda")
        features = net(x)
        negatives = [f for c in range(10) for f in list(memory[c])[-2:]]
        loss = features.pow(2).mean()
        if negatives:
            loss = loss + (features @ torch.stack(negatives).t()).logsumexp(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for i, f in enumerate(features.detach().clone()):  # LEAK
            memory[(step + i) % 10].append(f)  # HELD
    print("features", sum(map(len, memory.values())))


if __name__ == "__main__":
    main()
