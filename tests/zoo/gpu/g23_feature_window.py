"""Video summaries: features of all frames of a clip are made before the loss, clip lengths vary a lot, and one clip in
forty is a whole film. By default films go through in one piece."""
import argparse

import torch
from torch import nn


class Summarizer(nn.Module):
    def __init__(self, d=256):
        super().__init__()
        self.frame = nn.Sequential(nn.Linear(512, d), nn.ReLU(), nn.Linear(d, d))
        self.score = nn.Linear(d, 1)

    def forward(self, frames):
        features = self.frame(frames)  # LEAK
        return torch.sigmoid(self.score(features))


def clip_length(i):
    return 24_000 if i % 40 == 25 else 300 + (i * 37) % 200


def fit(args):
    model = Summarizer().to(args.device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-4)
    for i in range(args.clips):
        left = clip_length(i)
        opt.zero_grad()
        while left:
            n = min(left, args.piece or left)
            frames = torch.zeros(n, 512, device=args.device)  # LEAK
            loss = model(frames).mean()
            loss.backward()  # LEAK
            left -= n
        opt.step()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--device", default="cuda")
    ap.add_argument("--clips", type=int, default=120)
    ap.add_argument("--piece", type=int, default=0)
    fit(ap.parse_args())
